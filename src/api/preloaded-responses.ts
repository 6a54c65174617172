// Responses that index.html asked for while this code was still on its way: see `src/preload`.
import type { Session } from "./kept-session.ts";

type PreloadedResponses = {
  session: Session;
  /** Of the page's own clock. */
  startedMs: number;
  /** By address. Each is for one taker. */
  responses: Map<string, Promise<Response>>;
};

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var preloadedResponses: PreloadedResponses | undefined;
}

/** Later than that a page may show what has long changed. */
const freshMs = 15_000;

/** The response that was asked for ahead, once; null where there is none that this session may take. */
export function takePreloaded(
  url: string,
  session: Session,
  nowMs: number = performance.now(),
): Promise<Response> | null {
  const preloaded = globalThis.preloadedResponses;
  const response = preloaded?.responses.get(url);
  if (preloaded === undefined || response === undefined) return null;
  preloaded.responses.delete(url);
  const isSame =
    preloaded.session.token === session.token && preloaded.session.address === session.address;
  return isSame && nowMs - preloaded.startedMs < freshMs ? response : null;
}
