// How long a client may take to send a request. Node has one limit for all of a server; here whoever serves a request may take
// it off for that one alone.
import type { IncomingMessage } from "node:http";

/** As Node's own. */
const requestMs = 300_000;

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** @param refuse ends the connection of a client that has not sent all of it in time */
export function limitSending(incoming: IncomingMessage, refuse: (status: 408) => void): void {
  const timer = setTimeout(() => {
    if (!incoming.complete) refuse(408);
  }, requestMs);
  timer.unref();
  timers.set(incoming, timer);
  incoming.once("close", () => clearTimeout(timer));
}

/** Whoever calls it notices by itself where nothing comes any more. */
export function allowLongSending(incoming: IncomingMessage | undefined): void {
  if (incoming !== undefined) clearTimeout(timers.get(incoming));
}
