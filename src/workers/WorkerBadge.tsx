import { isInTransit } from "../../contract/states.ts";
import type { ProcessState, Worker } from "../../contract/workers/worker.ts";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";
import { Badge } from "../ui/feedback/Badge.tsx";
import { crashLoopOf } from "./worker-facts.ts";
import { crashLoopHelp, workerHelp } from "./worker-help.ts";
import { markOf } from "./worker-mark.ts";

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
  const { word, tone, reason, since } = markOf(worker);
  const isLooping = crashLoopOf(worker) !== null;
  const help = isLooping ? crashLoopHelp(worker) : workerHelp(worker);
  return (
    <Badge
      tone={tone}
      isMoving={!isLooping && isInTransit(word)}
      tip={[help, reason].filter(Boolean).join("\n") || undefined}
      since={since ?? undefined}
    >
      {word}
    </Badge>
  );
}

type ProcessBadgeProps = {
  state: string;
  /** Whether the process runs older code than the newest deployment. */
  isOld?: boolean;
};

/** The state of a process: supervisord's word in lower case, which is easier to read. */
export function ProcessBadge({ state, isOld = false }: ProcessBadgeProps) {
  return (
    // Passed explicitly, because RUNNING ends in -ing but is no transition.
    <StateBadge
      state={state}
      looks={processLooks}
      tone={isOld && state === "RUNNING" ? "warn" : undefined}
      isMoving={/^ST.*ING$/.test(state)}
    >
      {state.toLowerCase()}
    </StateBadge>
  );
}
