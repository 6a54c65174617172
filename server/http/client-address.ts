import type { IncomingMessage } from "node:http";

/** The address a request came from. Requests that came through no socket share one. */
export const addressOf = (environment: { incoming?: IncomingMessage } | undefined): string =>
  environment?.incoming?.socket.remoteAddress ?? "unknown";
