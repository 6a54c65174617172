// From a port to `fetch`. What Node's own server would answer by itself, before any of our code, is answered here in the
// same form as everything else.
import { once } from "node:events";
import {
  createServer,
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

/** @throws what the system says where the port cannot be had */
export async function listen(fetch: Fetch, port: number, host: string): Promise<Server> {
  const respond = getRequestListener(fetch, {
    hostname: hostInUrl(host),
    errorHandler: (error) =>
      error instanceof RequestError
        ? toResponse(errorStatus.malformed_request, errorMessage.malformed_request)
        : toResponse(errorStatus.server_error, errorMessage.server_error),
  });
  // A request without a `Host` is refused by the app, like all that is wrong with one.
  // Node's limit for a whole request would end an upload; each request has its own.
  const options = { requireHostHeader: false, requestTimeout: 0 };
  const server = createServer(options, (incoming, outgoing) => {
    lingerAfter(incoming, outgoing);
    leaveWhenClosing(server, outgoing);
    limitSending(incoming, (status) =>
      refuse(incoming.socket, status, errorMessage.malformed_request),
    );
    void respond(incoming, outgoing);
  });
  // What cannot be read as HTTP at all.
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const status = statusOf[error.code ?? ""] ?? errorStatus.malformed_request;
    refuse(socket, status, errorMessage.malformed_request);
  });
  // It asks for a tunnel to somewhere else. Without a listener Node just hangs up.
  // The socket is none of the server's connections any more: one that its client keeps open would be there for ever, also for
  // a server that closes.
  server.on("connect", (_request, socket) => {
    socket.resume().once("finish", () => socket.destroy());
    refuse(socket, errorStatus.method_not_allowed, "The CONNECT method is not supported here.");
  });
  // Node knows only `100-continue`, and would answer anything else without our headers.
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
 * Once the server is closing, a connection ends with its response. Who asks again on it, such as a proxy that has other
 * instances to turn to, would be refused until all connections are cut off.
 */
function leaveWhenClosing(server: Server, outgoing: ServerResponse): void {
  if (!server.listening) outgoing.setHeader("Connection", "close");
  // Of a request that came before, the response may have promised to go on.
  outgoing.once("close", () => {
    if (!server.listening) server.closeIdleConnections();
  });
}

/** A client that was refused may go on sending for so long, as with nginx's `lingering_time`. */
const lingerMs = 30_000;

/**
 * Closes a connection only when the client has sent its whole request. A system resets one that is closed before, and the
 * client may lose the response that says why it was refused.
 */
function lingerAfter(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { socket } = incoming;
  const close = () => Socket.prototype.destroySoon.call(socket);
  // Whoever began to read and gave up would hold the rest back.
  outgoing.once("finish", () => incoming.removeAllListeners("data").resume());
  let timer: NodeJS.Timeout | undefined;
  // Node calls it after the last response of a connection, and the adapter where the rest takes longer than it waits.
  socket.destroySoon = () => {
    if (incoming.complete) return close();
    if (timer !== undefined) return;
    socket.end();
    timer = setTimeout(close, lingerMs);
    socket.once("close", () => clearTimeout(timer));
    incoming.once("end", close);
  };
}

/** As Node itself answers them. */
const statusOf: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const toResponse = (status: number, message: string) =>
  Response.json({ message }, { status, headers: responseHeaders });

/** Answers on a socket that no request was read from, and closes it. */
function refuse(socket: Duplex & { bytesWritten?: number }, status: number, message: string): void {
  // In the middle of a response another one would be taken for a part of it.
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
