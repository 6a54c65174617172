// One clock for all texts that grow old on screen. A component renders again only when its text changes.
import { useSyncExternalStore } from "react";
import { serviceNow } from "../service-clock.ts";

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
 * Between two ticks it always answers the same, because React reads twice and takes a difference for a change. While
 * nobody listens the clock stands still, so the first one to read it starts it.
 */
function readClock(): number {
  if (timer === null) {
    nowMs = serviceNow();
    timer = setInterval(tick, tickMs);
  }
  return nowMs;
}

/** A text that depends on the time. */
export const useClockText = <Text extends string>(textAt: (nowMs: number) => Text): Text =>
  useSyncExternalStore(subscribe, () => textAt(readClock()));
