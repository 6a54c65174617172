// What can be done to a worker: at once on screen, then at the service, and back if that refuses.
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
  /** What the status becomes when the service agrees. */
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

/** Why an action cannot be asked for now. A state that only the service knows is its own to judge. */
export function refusal(
  action: WorkerAction,
  { status }: Pick<Worker, "status">,
): string | undefined {
  const isKnown = workerStates.some((known) => known === status);
  if (!isKnown || canWorker[action]({ status })) return undefined;
  return `Can't ${workerActions[action].label.toLowerCase()} while the status is ${status}.`;
}

/** Why the settings cannot be changed now. */
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

/** Changes a worker wherever the cache holds it. */
function patchWorker(id: number, patch: (worker: Worker) => Worker): void {
  const patchOne = (worker: Worker) => (worker.id === id ? patch(worker) : worker);
  patchAnswers("showWorker", patchOne);
  patchAnswers("listWorkers", (list) => ({ ...list, data: list.data.map(patchOne) }));
}

const mutationKey = ["act on a worker"];

/** Runs an action on a worker. The caller reports a failure. */
export const workerMutation = {
  mutationKey,
  mutationFn: ({ action, worker: { id } }: Asked) => call(workerActions[action].operation, { id }),
  onMutate: async ({ action, worker: { id } }: Asked) => {
    // An answer that is on its way knows nothing of this.
    await Promise.all(
      ["listWorkers", "showWorker"].map((name) => queryClient.cancelQueries({ queryKey: [name] })),
    );
    const { becomes: status } = workerActions[action];
    patchWorker(id, (worker) => ({ ...worker, status }));
  },
  onError: (_error: Error, { action, worker: { id, status: before } }: Asked) => {
    const { becomes } = workerActions[action];
    // Only what is still our own guess goes back; what the service has said since stays.
    patchWorker(id, (worker) =>
      worker.status === becomes ? { ...worker, status: before } : worker,
    );
  },
  // Not awaited: polls rest while a mutation is under way, and this one ends here.
  onSettled: (_answer: unknown, error: Error | null, { action }: Asked) => {
    if (isLast(mutationKey)) void invalidate("listWorkers");
    // What was deleted is soon not there any more, and asking for it would end on "Not found".
    if (action !== "remove" || error !== null) void invalidate("showWorker");
  },
};

/** Runs an action on a worker. Both functions stay the same over the life of the component. */
export function useWorkerActions() {
  const { mutate, mutateAsync } = useMutation({
    ...workerMutation,
    onError: (error, asked) => {
      workerMutation.onError(error, asked);
      const { action, worker } = asked;
      // Deleting is asked for in a dialog, which says what went wrong itself.
      if (action !== "remove")
        toast.failure(
          `Couldn't ${workerActions[action].label.toLowerCase()} ${workerLabel(worker)}.`,
          error,
        );
    },
  });
  return { run: mutate, runAndWait: mutateAsync };
}
