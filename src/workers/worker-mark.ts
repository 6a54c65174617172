// The summary of a worker's state, wherever it is shown: a word, its tone, and one sentence.
import { isInTransit } from "../../contract/states.ts";
import { partReason } from "../../contract/workers/status-reason.ts";
import type { ShownWorkerState, Worker } from "../../contract/workers/worker.ts";
import { lookUp } from "../look-up.ts";
import type { Tone } from "../ui/feedback/tone.ts";
import { visibleText } from "../ui/text/visible-text.ts";
import { crashLoopOf, partlyUpText, releaseText, unreachableText } from "./worker-facts.ts";

const tones: Record<ShownWorkerState, Tone> = {
  installing: "busy",
  installed: "good",
  stopping: "busy",
  stopped: "idle",
  starting: "busy",
  restarting: "busy",
  failed: "bad",
  removing: "busy",
  // The state is unknown, so neither good nor bad.
  unreachable: "idle",
};

type WorkerMark = {
  /** The status, unless that hides a problem. */
  word: string;
  tone: Tone;
  /** How many processes are up or on the new release; null = all. */
  note: string | null;
  /** Why it is in this state. */
  reason: string | null;
  /** The last lines of its log when it failed. */
  logTail: string | null;
  since: string | null;
};

const partsOf = (text: string) => partReason(visibleText(text));

export function markOf(worker: Worker): WorkerMark {
  const { status, status_reason: text, status_since: since = null } = worker;
  const loop = crashLoopOf(worker);
  if (loop !== null)
    return {
      word: "crash-looping",
      tone: "bad",
      note: null,
      ...partsOf(loop.reason),
      since: loop.since,
    };
  const tone = lookUp(tones, status) ?? (isInTransit(status) ? "busy" : "idle");
  const note = unreachableText(worker) ?? partlyUpText(worker) ?? releaseText(worker);
  const { reason, logTail } = text ? partsOf(text) : { reason: null, logTail: null };
  // Up, but with a problem: killed, on an older release, or with a change undone.
  const isMarred = tone === "good" && (note !== null || reason !== null);
  return isMarred
    ? { word: "needs attention", tone: "warn", note, reason, logTail, since }
    : { word: status, tone, note, reason, logTail, since };
}

/** Returns the sentence for a row; temporary states have none there, so that the heights of rows do not change. */
export function sentenceOf({ tone, note, reason }: WorkerMark): string | null {
  const [firstLine] = tone === "bad" || tone === "warn" ? (reason ?? "").split("\n", 1) : [];
  return [note, firstLine].filter(Boolean).join(". ") || null;
}
