// A receiver of webhooks for tests: a real server that records requests, and a verifier written from the specification, which shares
// no code with the signer.
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import { portOf } from "../../testing/port-of.ts";

type Arrival = { headers: IncomingHttpHeaders; body: string; atMs: number };
/** Responds to the n-th request, counted from 0. */
export type Answer = (index: number, response: ServerResponse) => void;

export type TestReceiver = {
  url: string;
  arrivals: Arrival[];
  /** Sets the response to further requests. */
  answer(next: Answer): void;
  close(): Promise<void>;
};

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_index, response) =>
    void response.writeHead(code, headers).end(`answer ${code}`);

/** Responds with one status after the other, and then always with the last one. */
export const statuses =
  (...codes: number[]): Answer =>
  (index, response) =>
    void response.writeHead(codes[Math.min(index, codes.length - 1)] ?? 200).end();

export async function startReceiver(first: Answer = status(200)): Promise<TestReceiver> {
  let answer = first;
  const arrivals: Arrival[] = [];
  const server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      arrivals.push({ headers: request.headers, body, atMs: Date.now() });
      answer(arrivals.length - 1, response);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    arrivals,
    answer(next) {
      answer = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Whether a request is signed with this secret. */
export function isSignedBy(secret: string, { headers, body }: Arrival): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const content = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const expected = createHmac("sha256", key).update(content).digest();
  return String(headers["webhook-signature"])
    .split(" ")
    .some((entry) => {
      const [version, signature = ""] = entry.split(",");
      const given = Buffer.from(signature, "base64");
      return version === "v1" && given.length === 32 && timingSafeEqual(given, expected);
    });
}
