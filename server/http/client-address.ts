import type { IncomingMessage } from "node:http";

/** Returns the address that a request came from. Requests without a socket, as in tests, share one. */
export const addressOf = (environment: { incoming?: IncomingMessage } | undefined): string =>
  environment?.incoming?.socket.remoteAddress ?? "unknown";
