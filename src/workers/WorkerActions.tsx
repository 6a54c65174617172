import type { Worker, WorkerAction } from "../../contract/workers/worker.ts";
import { workerLabel, workerName } from "../../contract/workers/worker-name.ts";
import { cachedParentOf } from "../api/parent-cache.ts";
import { confirm } from "../app/confirm.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { paths } from "../paths.ts";
import { Button } from "../ui/button/Button.tsx";
import { editRefusal, refusal, useWorkerActions, workerActions } from "./actions.ts";
import { Icon, type IconName } from "../ui/Icon.tsx";

const actions = ["start", "stop", "restart"] as const satisfies readonly WorkerAction[];

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
  /** Icons alone, or with their labels. */
  look: "icons" | "words";
  /** Called when a deletion has begun. */
  onRemoved?: () => void;
};

/** Start, stop, restart, edit, duplicate and delete. Actions that are impossible now are disabled with a reason. */
export function WorkerActions({ worker, look: size, onRemoved }: WorkerActionsProps) {
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
  const isIcon = size === "icons";
  const siteId = worker.site_id ?? cachedParentOf("listWorkers", worker.id);
  const look = (label: string, key: string) =>
    ({
      size: isIcon ? "icon" : "md",
      variant: isIcon ? "ghost" : "secondary",
      command: { label: `${label} ${workerLabel(worker)}`, name: label, key },
    }) as const;
  const link = (label: string, icon: IconName, key: string, to: string, refused?: string) => {
    const content = (
      <>
        <Icon name={icon} />
        {!isIcon && label}
      </>
    );
    return refused === undefined ? (
      <LinkButton {...look(label, key)} to={to}>
        {content}
      </LinkButton>
    ) : (
      <Button {...look(label, key)} disabledReason={refused}>
        {content}
      </Button>
    );
  };
  const toButton = (action: WorkerAction) => {
    const { label, icon, key } = workerActions[action];
    return (
      <Button
        key={action}
        {...look(label, key)}
        disabledReason={refusal(action, worker)}
        onClick={() => press(action)}
      >
        <Icon name={icon} />
        {!isIcon && <span className={action === "remove" ? "text-bad" : ""}>{label}</span>}
      </Button>
    );
  };
  return (
    <>
      {actions.map(toButton)}
      {/* A service that sends this field supports changes. */}
      {worker.is_changing !== undefined &&
        link("Edit", "edit", "e", paths.editWorker(worker.id), editRefusal(worker))}
      {siteId !== null && link("Duplicate", "copy", "d", paths.newWorker(siteId, worker.id))}
      {toButton("remove")}
    </>
  );
}
