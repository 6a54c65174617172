// The server of the fakes of Slack and Discord: it listens on loopback, records requests, and can be set to misbehave once.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { portOf } from "../../../testing/port-of.ts";

export type PeerAnswer = {
  status: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: string | object;
};

export type HttpPeer = {
  /** e.g. `http://127.0.0.1:40123` */
  origin: string;
  /** Accepted messages, as parsed JSON. */
  accepted: unknown[];
  /** All requests, e.g. `POST /services/…`. */
  requests: string[];
  /** Sets the next response. `hang` never responds; `stall` stops in the middle of the response, which stays open. */
  answerNext(answer: PeerAnswer | "hang" | "stall" | "reset"): void;
  /** Resolves once a request was received completely. */
  nextRequest(): Promise<unknown>;
  close(): Promise<void>;
};

type Judge = (request: { url: URL; type: string; body: string }) => {
  answer: PeerAnswer;
  /** The accepted message; null = it was refused. */
  accepted: unknown;
};

export async function startHttpPeer(judge: Judge): Promise<HttpPeer> {
  const accepted: unknown[] = [];
  const requests: string[] = [];
  const planned: (PeerAnswer | "hang" | "stall" | "reset")[] = [];
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${portOf(server)}`;

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const body = await text(request);
    requests.push(`${request.method} ${request.url}`);
    server.emit("taken");
    const plan = planned.shift();
    if (plan === "hang") return;
    if (plan === "reset") return void request.socket.destroy();
    if (plan === "stall") {
      response.writeHead(200, { "content-length": "1000" });
      return void response.write("o");
    }
    if (plan) return send(response, plan);
    const url = new URL(request.url ?? "/", origin);
    const verdict =
      request.method === "POST"
        ? judge({ url, type: request.headers["content-type"] ?? "", body })
        : { answer: { status: 405 }, accepted: null };
    if (verdict.accepted !== null) accepted.push(verdict.accepted);
    send(response, verdict.answer);
  }

  return {
    origin,
    accepted,
    requests,
    answerNext: (answer) => void planned.push(answer),
    nextRequest: () => once(server, "taken"),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

function send(response: ServerResponse, { status, headers, body = "" }: PeerAnswer) {
  const isJson = typeof body === "object";
  response.writeHead(status, { ...(isJson && { "content-type": "application/json" }), ...headers });
  response.end(isJson ? JSON.stringify(body) : body);
}
