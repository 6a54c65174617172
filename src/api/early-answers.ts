// Answers that index.html asked for while this code was still on its way: see `src/early`.
import type { Session } from "./kept-session.ts";

type EarlyAnswers = {
  session: Session;
  /** Of the page's own clock. */
  startedMs: number;
  /** By address. Each is for one taker. */
  answers: Map<string, Promise<Response>>;
};

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var earlyAnswers: EarlyAnswers | undefined;
}

/** Later than that a page may show what has long changed. */
const freshMs = 15_000;

/** The answer that was asked for early, once; null where there is none that this session may take. */
export function takeEarly(
  url: string,
  session: Session,
  nowMs: number = performance.now(),
): Promise<Response> | null {
  const early = globalThis.earlyAnswers;
  const answer = early?.answers.get(url);
  if (early === undefined || answer === undefined) return null;
  early.answers.delete(url);
  const isSame = early.session.token === session.token && early.session.address === session.address;
  return isSame && nowMs - early.startedMs < freshMs ? answer : null;
}
