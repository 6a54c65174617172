// The service in front of another one, both on real ports: what going away does shows on real connections only.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { serve } from "@hono/node-server";
import { pino } from "pino";
import { createUpstreamApp, type UpstreamOptions } from "../upstream/upstream.ts";

type Seen = { method: string; url: string; headers: NodeJS.Dict<string | string[]>; body: string };

export const silent = pino({ level: "silent" });

export const sendJson =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

/** Starts servers for one test, and closes them by `close`. */
export function createUpstreamPairs() {
  const closers: (() => Promise<void>)[] = [];

  async function listening(server: Server) {
    if (!server.listening) await once(server, "listening");
    closers.push(async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** The other service. */
  const startOther = (answer: RequestListener) =>
    listening(createServer(answer).listen(0, "127.0.0.1"));

  const serveOn = (fetch: Parameters<typeof serve>[0]["fetch"]) =>
    listening(serve({ fetch, port: 0, hostname: "127.0.0.1" }) as Server);

  const startOurs = (upstream: string, options: Partial<UpstreamOptions> = {}) =>
    serveOn(
      createUpstreamApp({
        upstream,
        dashboardFolder: null,
        version: "1.2.3",
        log: silent,
        ...options,
      }).fetch,
    );

  return {
    startOther,
    startOurs,
    serveOn,
    /** Both, with what has arrived at the other one. */
    async startPair(answer: RequestListener, path = "") {
      const seen: Seen[] = [];
      const other = await startOther((request, response) => {
        const { method = "", url = "", headers } = request;
        const read = async () => {
          seen.push({ method, url, headers, body: await text(request) });
          answer(request, response);
        };
        read().catch(() => response.destroy());
      });
      return { ours: await startOurs(other + path), other, seen };
    },
    async close() {
      for (const close of closers.splice(0).toReversed()) await close();
    },
    /** The first that was started goes away. */
    closeFirst: async () => closers.shift()?.(),
  };
}
