import type { Worker, WorkerAction } from "../../contract/workers/worker.ts";
import { workerLabel, workerName } from "../../contract/workers/worker-name.ts";
import { confirm } from "../app/confirm.ts";
import { Button } from "../ui/Button.tsx";
import { refusal, useWorkerActions, workerActions } from "./actions.ts";
import { Icon } from "../ui/Icon.tsx";

const order = ["start", "stop", "restart", "remove"] as const satisfies readonly WorkerAction[];

const processesOf = ({ processes }: Worker) =>
  processes === 1
    ? "its process"
    : processes === null
      ? "its processes"
      : `its ${processes} processes`;

function Loss({ worker }: { worker: Worker }) {
  const { id, queue, connection, stopwaitsecs } = worker;
  return (
    <>
      <p>
        Worker {id} processes <strong className="text-ink">{queue}</strong> on the connection{" "}
        <strong className="text-ink">{connection}</strong>. Deleting the worker stops{" "}
        {processesOf(worker)}
        {stopwaitsecs !== null && `. A job still running after ${stopwaitsecs} s is killed`}.
      </p>
      <p>Settings and log are deleted. Queued jobs stay in the queue.</p>
    </>
  );
}

type WorkerActionsProps = {
  worker: Worker;
  /** Icons alone, or with their words. */
  look: "icons" | "words";
  /** After a deletion has begun. */
  onRemoved?: () => void;
};

/** Start, stop, restart and delete. What is not possible now stays in place and says why. */
export function WorkerActions({ worker, look, onRemoved }: WorkerActionsProps) {
  const { run, runAndWait } = useWorkerActions();
  const press = (action: WorkerAction) => {
    const asked = { action, worker };
    if (action !== "remove") return run(asked);
    confirm({
      title: `Delete ${workerName(worker)}?`,
      body: <Loss worker={worker} />,
      action: "Delete worker",
      run: async () => {
        await runAndWait(asked);
        onRemoved?.();
      },
    });
  };
  return order.map((action) => {
    const { label, icon, key } = workerActions[action];
    return (
      <Button
        key={action}
        size={look === "icons" ? "icon" : "md"}
        variant={look === "icons" ? "ghost" : "secondary"}
        command={{ label: `${label} ${workerLabel(worker)}`, name: label, key }}
        disabledReason={refusal(action, worker)}
        onClick={() => press(action)}
      >
        <Icon name={icon} />
        {look === "words" && <span className={action === "remove" ? "text-bad" : ""}>{label}</span>}
      </Button>
    );
  });
}
