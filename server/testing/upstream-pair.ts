// Starts the service in front of an upstream, both on real ports, because only real connections show what a disconnect does.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { createAllowedHosts } from "../http/allowed-hosts.ts";
import { listen } from "../http/listen.ts";
import { createLog } from "../log.ts";
import { createUpstreamApp, type UpstreamOptions } from "../upstream/upstream.ts";
import { portOf } from "./port-of.ts";

type Seen = { method: string; url: string; headers: NodeJS.Dict<string | string[]>; body: string };

export const silent = createLog("silent");

export const thisMachine = createAllowedHosts({
  listensOn: "127.0.0.1",
  publicUrl: null,
  machineName: "",
});

export const sendJson =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

/** Starts servers for one test; `close` closes them. */
export function createUpstreamPairs() {
  const closers: (() => Promise<void>)[] = [];

  async function listening(server: Server) {
    if (!server.listening) await once(server, "listening");
    closers.push(async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    });
    return `http://127.0.0.1:${portOf(server)}`;
  }

  /** Starts the upstream. */
  const startOther = (answer: RequestListener) =>
    listening(createServer(answer).listen(0, "127.0.0.1"));

  const serveOn = async (fetch: Parameters<typeof listen>[0]) =>
    listening(await listen(fetch, 0, "127.0.0.1"));

  const startOurs = (upstream: string, options: Partial<UpstreamOptions> = {}) =>
    serveOn(
      createUpstreamApp({
        upstream,
        publicUrl: null,
        isAllowedHost: thisMachine,
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
    /** Starts both services. `seen` has the requests that arrived at the upstream. */
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
    /** Closes the server that was started first. */
    closeFirst: async () => closers.shift()?.(),
  };
}
