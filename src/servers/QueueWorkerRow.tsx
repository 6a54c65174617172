// A supervisord program that runs `queue:work`, with the state of its take-over by a worker.
import { useState } from "react";
import { isInTransit } from "../../contract/states.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { paths } from "../paths.ts";
import { CommandLine } from "../ui/text/CommandLine.tsx";
import { Button } from "../ui/button/Button.tsx";
import type { FoundQueueWorker } from "./found-entry.ts";
import { TakeOverDialog } from "./TakeOverDialog.tsx";

const runningText = (running: number | null) =>
  running === null ? null : running === 0 ? "Not running" : `${running} running`;

/** Returns the text below its command. */
function stateText({ worker, refusal, running, file }: FoundQueueWorker): string {
  if (worker === null) return refusal === null ? file : `${file} · ${refusal}`;
  const { id, take_over: status } = worker;
  if (isInTransit(status)) return `${file} · Worker ${id} is taking its place.`;
  if (status === "failed") return `${file} · Worker ${id} could not take its place.`;
  return running === null || running === 0
    ? `${file} · Taken over by worker ${id}.`
    : `${file} · Taken over by worker ${id}, and started again since.`;
}

/** Returns the label of the button that starts a take-over; null = no button. */
function askText({ worker, refusal, running }: FoundQueueWorker): string | null {
  if (refusal !== null || isInTransit(worker?.take_over)) return null;
  if (worker === null) return "Take over";
  if (worker.take_over === "failed") return "Try again";
  return running === null || running === 0 ? null : "Stop again";
}

export function QueueWorkerRow({ serverId, found }: { serverId: number; found: FoundQueueWorker }) {
  const [isAsking, setIsAsking] = useState(false);
  const { program, command, site_id: siteId, settings, worker, running } = found;
  const ask = askText(found);
  const state = worker === null ? runningText(running) : null;
  return (
    <li className="border-b border-line px-4 py-2 text-sm last:border-b-0 max-sm:px-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <div className="min-w-0 grow basis-64">
          <p className="wrap-anywhere">
            <span className="font-medium">{program}</span>
            {state !== null && <span className="ms-2 text-xs text-muted">{state}</span>}
          </p>
          <p>
            <CommandLine command={command} />
          </p>
          <p className="text-xs wrap-anywhere text-muted">{stateText(found)}</p>
        </div>
        {worker !== null && (
          <LinkButton to={paths.worker(worker.id)}>{`Worker ${worker.id}`}</LinkButton>
        )}
        {ask !== null && (
          <Button isChange aria-label={`${ask}: ${program}`} onClick={() => setIsAsking(true)}>
            {ask}
          </Button>
        )}
        {worker === null && ask === null && siteId !== null && (
          <LinkButton
            to={paths.newWorkerWith(siteId, settings)}
            aria-label={`Create worker: ${program}`}
          >
            Create worker
          </LinkButton>
        )}
      </div>
      {isAsking && (
        <TakeOverDialog serverId={serverId} found={found} onClose={() => setIsAsking(false)} />
      )}
    </li>
  );
}
