// Limits how long a client may take to send a request. Node has one limit for all requests of a server; this one can be lifted for
// a single request.
import type { IncomingMessage } from "node:http";

/** The default of Node's `requestTimeout`. */
const requestMs = 300_000;

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Starts the limit of a request. @param refuse ends the connection of a client that exceeds it */
export function limitSending(incoming: IncomingMessage, refuse: (status: 408) => void): void {
  const timer = setTimeout(() => {
    if (!incoming.complete) refuse(408);
  }, requestMs);
  timer.unref();
  timers.set(incoming, timer);
  incoming.once("close", () => clearTimeout(timer));
}

/** Lifts the limit of a request. The caller must detect a client that stops sending. */
export function allowLongSending(incoming: IncomingMessage | undefined): void {
  if (incoming !== undefined) clearTimeout(timers.get(incoming));
}
