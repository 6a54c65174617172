import type { ProcessState, Worker, WorkerState } from "../../contract/workers/worker.ts";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";

const workerLooks: Record<WorkerState, StateLook> = {
  installing: { tone: "busy", help: "It is being set up and started for the first time." },
  installed: { tone: "good", help: "It is up, and its processes are kept running." },
  stopping: { tone: "busy", help: "Its processes end the job at hand, then themselves." },
  stopped: { tone: "idle", help: "Somebody stopped it. It stays so until it is started." },
  starting: { tone: "busy", help: "Its processes were started and have to stay up for a while." },
  restarting: { tone: "busy", help: "A process has ended or is ending, and is started again." },
  failed: { tone: "bad", help: "It is not up, and is not started again by itself." },
  removing: { tone: "busy", help: "Its processes end, then it is gone." },
};

const processLooks: Record<ProcessState, StateLook> = {
  STOPPED: { tone: "idle", help: "It was stopped by somebody." },
  STARTING: { tone: "busy", help: "It was started and has to stay up for a while." },
  RUNNING: { tone: "good", help: "It is up, and has been for long enough to count." },
  BACKOFF: { tone: "warn", help: "It ended too soon and waits before it is started again." },
  STOPPING: { tone: "busy", help: "It was told to end, and has not yet." },
  EXITED: { tone: "idle", help: "It ended by itself." },
  FATAL: { tone: "bad", help: "It ended too soon too often, and is not started again by itself." },
};

export function WorkerBadge({ worker }: { worker: Worker }) {
  const { status, status_reason: reason, status_since: since } = worker;
  return <StateBadge state={status} looks={workerLooks} reason={reason} since={since} />;
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
