import type { Worker } from "../../contract/workers/worker.ts";
import { partlyUpText, releaseText } from "./worker-facts.ts";

/** What a worker's status leaves open: how much of one that failed is up, and which release its processes run. */
export function WorkerNotes({ worker, size }: { worker: Worker; size: "text-xs" | "text-sm" }) {
  return [partlyUpText(worker), releaseText(worker)].map(
    (text) =>
      text !== null && (
        <span key={text} className={`${size} text-warn`}>
          {text}
        </span>
      ),
  );
}
