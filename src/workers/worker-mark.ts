// The one thing that is said of a worker's state wherever it is shown: a word, its color, and one sentence.
import { isInTransit } from "../../contract/states.ts";
import { partReason } from "../../contract/workers/status-reason.ts";
import type { ShownWorkerState, Worker } from "../../contract/workers/worker.ts";
import { lookUp } from "../look-up.ts";
import type { Tone } from "../ui/tone.ts";
import { visibleText } from "../ui/visible-text.ts";
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
  // Nobody knows, so it is neither good nor bad.
  unreachable: "idle",
};

type WorkerMark = {
  /** The interface's word, unless that says that all is well and it is not. */
  word: string;
  tone: Tone;
  /** How much of it is up, or runs the new release; null = all of it does. */
  note: string | null;
  /** Why it is so. */
  reason: string | null;
  /** What its log said last when it failed. */
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
  // Up, and not as it was to be: killed, on an older release, or with a change undone.
  const isMarred = tone === "good" && (note !== null || reason !== null);
  return isMarred
    ? { word: "needs attention", tone: "warn", note, reason, logTail, since }
    : { word: status, tone, note, reason, logTail, since };
}

/** What a row has room for; what only passes says nothing there, so that rows stay as high as they are. */
export function sentenceOf({ tone, note, reason }: WorkerMark): string | null {
  const [firstLine] = tone === "bad" || tone === "warn" ? (reason ?? "").split("\n", 1) : [];
  return [note, firstLine].filter(Boolean).join(". ") || null;
}
