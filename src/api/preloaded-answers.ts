// Answers that index.html asked for while this code was still on its way: see `src/preload`.
import type { Session } from "./kept-session.ts";

type PreloadedAnswers = {
  session: Session;
  /** Of the page's own clock. */
  startedMs: number;
  /** By address. Each is for one taker. */
  answers: Map<string, Promise<Response>>;
};

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var preloadedAnswers: PreloadedAnswers | undefined;
}

/** Later than that a page may show what has long changed. */
const freshMs = 15_000;

/** The answer that was asked for ahead, once; null where there is none that this session may take. */
export function takePreloaded(
  url: string,
  session: Session,
  nowMs: number = performance.now(),
): Promise<Response> | null {
  const preloaded = globalThis.preloadedAnswers;
  const answer = preloaded?.answers.get(url);
  if (preloaded === undefined || answer === undefined) return null;
  preloaded.answers.delete(url);
  const isSame =
    preloaded.session.token === session.token && preloaded.session.address === session.address;
  return isSame && nowMs - preloaded.startedMs < freshMs ? answer : null;
}
