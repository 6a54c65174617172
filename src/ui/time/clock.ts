// One clock for all relative times on screen. A component renders again only when its text changes.
import { useSyncExternalStore } from "react";
import { serviceNow } from "../../service-clock.ts";

const tickMs = 1_000;
const listeners = new Set<() => void>();
let nowMs = serviceNow();
let timer: ReturnType<typeof setInterval> | null = null;

function tick() {
  nowMs = serviceNow();
  for (const listener of listeners) listener();
  if (listeners.size > 0 || timer === null) return;
  clearInterval(timer);
  timer = null;
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  readClock();
  return () => void listeners.delete(listener);
}

/**
 * Returns the same value between two ticks, because React reads twice and treats a difference as a change. The clock is
 * stopped without listeners, so the first read starts it.
 */
function readClock(): number {
  if (timer === null) {
    nowMs = serviceNow();
    timer = setInterval(tick, tickMs);
  }
  return nowMs;
}

/** Returns a text that depends on the time, and renders again when it changes. */
export const useClockText = <Text extends string>(textAt: (nowMs: number) => Text): Text =>
  useSyncExternalStore(subscribe, () => textAt(readClock()));
