import { isInTransit } from "../../contract/states.ts";
import type { ProcessState, Worker, WorkerState } from "../../contract/workers/worker.ts";
import { lookUp } from "../look-up.ts";
import { visibleText } from "../ui/visible-text.ts";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";
import { Badge } from "../ui/Badge.tsx";
import type { Tone } from "../ui/tone.ts";
import { crashLoopOf } from "./worker-facts.ts";
import { crashLoopHelp, workerHelp } from "./worker-help.ts";

const workerTones: Record<WorkerState, Tone> = {
  installing: "busy",
  installed: "good",
  stopping: "busy",
  stopped: "idle",
  starting: "busy",
  restarting: "busy",
  failed: "bad",
  removing: "busy",
};

const processLooks: Record<ProcessState, StateLook> = {
  STOPPED: { tone: "idle", help: "Stopped." },
  STARTING: { tone: "busy", help: "Started. Not yet up long enough to count as running." },
  RUNNING: { tone: "good", help: "Up and running." },
  BACKOFF: { tone: "warn", help: "Exited too soon. Waiting before the next start." },
  STOPPING: { tone: "busy", help: "Stop signal sent. Waiting for the process to exit." },
  EXITED: { tone: "idle", help: "Exited. Starting again." },
  FATAL: {
    tone: "bad",
    help: "Too many failed starts. Start, restart or deploy the worker to try again.",
  },
};

export function WorkerBadge({ worker }: { worker: Worker }) {
  const { status, status_reason: reason, status_since: since } = worker;
  const loop = crashLoopOf(worker);
  // Its status says in between that all is well, and is not to be what one sees first.
  if (loop !== null)
    return (
      <Badge
        tone="bad"
        tip={[crashLoopHelp(worker), visibleText(loop.reason)].join("\n")}
        since={loop.since}
      >
        crash-looping
      </Badge>
    );
  return (
    <Badge
      tone={lookUp(workerTones, status) ?? (isInTransit(status) ? "busy" : "idle")}
      isMoving={isInTransit(status)}
      tip={
        [workerHelp(worker), reason && visibleText(reason)].filter(Boolean).join("\n") || undefined
      }
      since={since ?? undefined}
    >
      {status}
    </Badge>
  );
}

/** A process's state: supervisord's word, in lower case, because a page that shouts is tiring. */
export function ProcessBadge({ state }: { state: string }) {
  return (
    // Not by the word's end alone: RUNNING is no transition.
    <StateBadge state={state} looks={processLooks} isMoving={/^ST.*ING$/.test(state)}>
      {state.toLowerCase()}
    </StateBadge>
  );
}
