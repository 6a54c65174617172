import { isInTransit } from "../../contract/states.ts";
import type { ProcessState, Worker, WorkerState } from "../../contract/workers/worker.ts";
import { Badge } from "../ui/Badge.tsx";
import type { Tone } from "../ui/tone.ts";

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

const processTones: Record<ProcessState, Tone> = {
  STOPPED: "idle",
  STARTING: "busy",
  RUNNING: "good",
  BACKOFF: "warn",
  STOPPING: "busy",
  EXITED: "idle",
  FATAL: "bad",
};

/** The tone of a word; a service may know words that we do not, and they are no news either way. */
const toneOf = (tones: Record<string, Tone>, word: string): Tone =>
  Object.hasOwn(tones, word) ? (tones[word] ?? "idle") : isInTransit(word) ? "busy" : "idle";

export function WorkerBadge({ worker }: { worker: Worker }) {
  const { status, status_reason: reason } = worker;
  return (
    <Badge
      tone={toneOf(workerTones, status)}
      isMoving={isInTransit(status)}
      tip={reason ?? undefined}
    >
      {status}
    </Badge>
  );
}

/** A process's state: supervisord's word, in lower case, because a page that shouts is tiring. */
export function ProcessBadge({ state }: { state: string }) {
  const tone = toneOf(processTones, state);
  return (
    // Not by the word: RUNNING ends in "-ing" too, and is no transition.
    <Badge tone={tone} isMoving={tone === "busy"}>
      {state.toLowerCase()}
    </Badge>
  );
}
