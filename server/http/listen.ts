// Listens on a port and passes requests to `fetch`. Errors that Node's server would answer before any of our code runs get
// responses in the same form as all others.
import { once } from "node:events";
import {
  createServer,
  maxHeaderSize,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { errorMessage, errorStatus } from "../../contract/errors.ts";
import { hostInUrl } from "./allowed-hosts.ts";
import { responseHeaders } from "./every-request.ts";
import { limitSending } from "./sending-limit.ts";

type Fetch = Parameters<typeof getRequestListener>[0];

/**
 * @param headersMs how long a client may take to send the headers of a request
 * @throws the system's error where the port cannot be opened
 */
export async function listen(
  fetch: Fetch,
  port: number,
  host: string,
  headersMs = 60_000,
): Promise<Server> {
  const respond = getRequestListener(fetch, {
    hostname: hostInUrl(host),
    errorHandler: (error) =>
      error instanceof RequestError
        ? toResponse(errorStatus.malformed_request, errorMessage.malformed_request)
        : toResponse(errorStatus.server_error, errorMessage.server_error),
  });
  // The app refuses requests without a `Host`. Node's limit for a whole request would end an upload, so each operation sets its
  // own. Without it, Node has no limit for the headers either.
  const options = {
    requireHostHeader: false,
    requestTimeout: 0,
    headersTimeout: headersMs,
    connectionsCheckingInterval: headersMs / 2,
  };
  const server = createServer(options, (incoming, outgoing) => {
    lingerAfter(incoming, outgoing);
    leaveWhenClosing(server, outgoing);
    limitSending(incoming, (status) =>
      refuse(incoming.socket, status, errorMessage.malformed_request),
    );
    void respond(incoming, outgoing);
  });
  // Handles requests that are not valid HTTP.
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const { malformed_request: status } = errorStatus;
    refuse(socket, ...(refusals[error.code ?? ""] ?? [status, errorMessage.malformed_request]));
  });
  // Refuses requests for a tunnel. Without a listener, Node just closes the connection. The server no longer counts this socket
  // as one of its connections, so it must be ended here, or a client could keep it open forever.
  server.on("connect", (_request, socket) => {
    socket.resume().once("finish", () => socket.destroy());
    refuse(socket, errorStatus.method_not_allowed, "The CONNECT method is not supported here.");
  });
  // Refuses every expectation but `100-continue`, which Node would answer without our headers.
  server.on("checkExpectation", (incoming, outgoing) => {
    lingerAfter(incoming, outgoing);
    const body = JSON.stringify({ message: "This expectation is not supported here." });
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      ...responseHeaders,
    };
    outgoing.writeHead(417, headers).end(body);
  });
  server.listen(port, host);
  await once(server, "listening");
  return server;
}

/**
 * Closes each connection after its response once the server is closing, so that a proxy sends the next request to another
 * instance instead of having it refused.
 */
function leaveWhenClosing(server: Server, outgoing: ServerResponse): void {
  if (!server.listening) outgoing.setHeader("Connection", "close");
  // The response to an earlier request may have promised to keep the connection open.
  outgoing.once("close", () => {
    if (!server.listening) server.closeIdleConnections();
  });
}

/** How long a refused client may continue to send, as nginx's `lingering_time`. */
const lingerMs = 30_000;

/**
 * Closes a connection only once the client has sent its whole request. The system resets a connection that is closed before that,
 * and the client may lose the response that says why it was refused.
 */
function lingerAfter(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { socket } = incoming;
  const close = () => Socket.prototype.destroySoon.call(socket);
  // A handler that stopped reading the body would keep the rest of it from being discarded.
  outgoing.once("finish", () => incoming.removeAllListeners("data").resume());
  let timer: NodeJS.Timeout | undefined;
  // Node calls `destroySoon` after the last response of a connection; the adapter calls it when the rest of the body takes too
  // long.
  socket.destroySoon = () => {
    if (incoming.complete) return close();
    if (timer !== undefined) return;
    socket.end();
    timer = setTimeout(close, lingerMs);
    socket.once("close", () => clearTimeout(timer));
    incoming.once("end", close);
  };
}

/** Statuses by error code, as in Node's own server, and messages. */
const refusals: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    431,
    `The URL and headers of a request must not be larger than ${maxHeaderSize / 1024} KiB.`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "The chunk extensions of the request are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time."],
};

const toResponse = (status: number, message: string) =>
  Response.json({ message }, { status, headers: responseHeaders });

/** Sends an error on a socket whose request could not be read, and closes it. */
function refuse(socket: Duplex & { bytesWritten?: number }, status: number, message: string): void {
  // During a response, the client would take a second one for a part of the first.
  if (!socket.writable || (socket.bytesWritten ?? 0) > 0) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify({ message });
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
    ...responseHeaders,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n"));
}
