import type { Worker, WorkerState } from "../../contract/workers/worker.ts";
import { workerLabel } from "../../contract/workers/worker-name.ts";
import { call } from "../api/client.ts";
import { useMutation } from "../api/mutate.ts";
import { invalidate } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import { lookUp } from "../look-up.ts";
import { Button } from "../ui/button/Button.tsx";

const nouns: Partial<Record<WorkerState, string>> = {
  starting: "start",
  stopping: "stop",
  restarting: "restart",
  removing: "deletion",
};

/** Withdraws an order that waits for the worker's server. */
export function WithdrawButton({ worker }: { worker: Worker }) {
  const { id, pending_status: pending, is_changing: isChanging } = worker;
  const noun = isChanging === true ? "change" : (lookUp(nouns, pending ?? "") ?? "request");
  const { mutate, isPending } = useMutation({
    mutationFn: () => call("withdrawWorkerOrder", { id }),
    // Refetched first, because the button disappears with the order, before the toast is shown.
    onSuccess: async () => {
      await invalidate("showWorker", "listWorkers");
      toast.success(`Withdrew the ${noun} of ${workerLabel(worker)}.`);
    },
    onError: (error) => {
      void invalidate("showWorker", "listWorkers");
      toast.failure(`Couldn't withdraw the ${noun} of ${workerLabel(worker)}.`, error);
    },
  });
  return (
    <Button
      command={{
        label: `Withdraw ${noun} of ${workerLabel(worker)}`,
        name: `Withdraw ${noun}`,
        key: "w",
      }}
      isPending={isPending}
      onClick={() => mutate()}
    >
      Withdraw {noun}
    </Button>
  );
}
