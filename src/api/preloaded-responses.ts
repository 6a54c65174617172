// Hands out responses that index.html requested before this code had loaded: see `src/preload`.
import type { Session } from "./kept-session.ts";

type PreloadedResponses = {
  session: Session;
  /** As of `performance.now()`. */
  startedMs: number;
  /** By URL. Each response can be taken once. */
  responses: Map<string, Promise<Response>>;
};

declare global {
  // oxlint-disable-next-line no-var -- a global of the page is declared so
  var preloadedResponses: PreloadedResponses | undefined;
}

/** Age in milliseconds at which a response counts as outdated. */
const freshMs = 15_000;

/** @returns the preloaded response, once; null where there is none for this session */
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
