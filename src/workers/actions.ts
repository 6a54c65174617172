// Actions on workers: shown at once, then sent, and reverted if the service refuses.
import {
  canWorker,
  type Worker,
  type WorkerAction,
  workerStates,
  type WorkerState,
} from "../../contract/workers/worker.ts";
import { workerLabel } from "../../contract/workers/worker-name.ts";
import { call } from "../api/client.ts";
import { isLast, useMutation } from "../api/mutate.ts";
import { invalidate, patchAnswers, queryClient } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import type { IconName } from "../ui/Icon.tsx";

type ActionFacts = {
  label: string;
  icon: IconName;
  key: string;
  operation: "startWorker" | "stopWorker" | "restartWorker" | "deleteWorker";
  /** The optimistic status. */
  becomes: WorkerState;
};

export const workerActions: Record<WorkerAction, ActionFacts> = {
  start: { label: "Start", icon: "play", key: "s", operation: "startWorker", becomes: "starting" },
  stop: { label: "Stop", icon: "stop", key: "t", operation: "stopWorker", becomes: "stopping" },
  restart: {
    label: "Restart",
    icon: "restart",
    key: "r",
    operation: "restartWorker",
    becomes: "restarting",
  },
  remove: {
    label: "Delete",
    icon: "trash",
    key: "#",
    operation: "deleteWorker",
    becomes: "removing",
  },
};

/** Returns why an action is impossible now. Unknown states are left to the service to judge. */
export function refusal(
  action: WorkerAction,
  { status }: Pick<Worker, "status">,
): string | undefined {
  const isKnown = workerStates.some((known) => known === status);
  if (!isKnown || canWorker[action]({ status })) return undefined;
  return `Can't ${workerActions[action].label.toLowerCase()} while the status is ${status}.`;
}

/** Returns why the options cannot be changed now. */
export function editRefusal({ status, is_changing: isChanging }: Worker): string | undefined {
  if (isChanging === true) return "Can't edit while a change is being rolled out.";
  const known = workerStates.find((state) => state === status);
  return known === undefined || canWorker.update({ status: known })
    ? undefined
    : `Can't edit while the status is ${status}.`;
}

type Asked = {
  action: WorkerAction;
  worker: Pick<Worker, "id" | "queue" | "connection" | "status">;
};

/** Updates a worker in all cached responses. */
function patchWorker(id: number, patch: (worker: Worker) => Worker): void {
  const patchOne = (worker: Worker) => (worker.id === id ? patch(worker) : worker);
  patchAnswers("showWorker", patchOne);
  patchAnswers("listWorkers", (list) => ({ ...list, data: list.data.map(patchOne) }));
}

const mutationKey = ["act on a worker"];

/** Runs an action on a worker. The caller reports errors. */
export const workerMutation = {
  mutationKey,
  mutationFn: ({ action, worker: { id } }: Asked) => call(workerActions[action].operation, { id }),
  onMutate: async ({ action, worker: { id } }: Asked) => {
    // Cancels running requests, whose responses would not include the action.
    await Promise.all(
      ["listWorkers", "showWorker"].map((name) => queryClient.cancelQueries({ queryKey: [name] })),
    );
    const { becomes: status } = workerActions[action];
    patchWorker(id, (worker) => ({ ...worker, status }));
  },
  onError: (_error: Error, { action, worker: { id, status: before } }: Asked) => {
    const { becomes } = workerActions[action];
    // Only the optimistic status is reverted; a newer one from the service stays.
    patchWorker(id, (worker) =>
      worker.status === becomes ? { ...worker, status: before } : worker,
    );
  },
  // Not awaited: polls pause during a mutation, which ends here.
  onSettled: (_answer: unknown, error: Error | null, { action }: Asked) => {
    if (isLast(mutationKey)) void invalidate("listWorkers");
    // A deleted worker is not refetched, because that would end with a 404.
    if (action !== "remove" || error !== null) void invalidate("showWorker");
  },
};

/** Returns functions that stay the same over the life of the component. */
export function useWorkerActions() {
  const { mutate, mutateAsync } = useMutation({
    ...workerMutation,
    onError: (error, asked) => {
      workerMutation.onError(error, asked);
      const { action, worker } = asked;
      // The confirmation of a deletion shows errors itself.
      if (action !== "remove")
        toast.failure(
          `Couldn't ${workerActions[action].label.toLowerCase()} ${workerLabel(worker)}.`,
          error,
        );
    },
  });
  return { run: mutate, runAndWait: mutateAsync };
}
