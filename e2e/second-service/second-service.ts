// A small service of another vendor, in memory: only the interface's operations, with its own state words, slow
// responses, and an occasional 429. It shares no code with Quarterdeck, so that it shares no bugs either.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { makeCourses, notThere, problem, type Reply, type Routes } from "./responses.ts";
import { backupRoutes } from "./backups.ts";
import { siteRoutes } from "./site.ts";
import { portOf } from "../../server/testing/port-of.ts";

export const secondToken = "sk.second/42";
export const serverId = 77_000_000_001;
export const siteId = 9_007_199_254_740_991;

/** Range of the random response time, in milliseconds. */
const latencyMs = { min: 100, max: 400 };
const pauseEvery = 25;

/** Returns a generator of numbers from 0 to 1 that are the same in each run: mulberry32. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const toPattern = (path: string) => new RegExp(`^${path.replace("{id}", "(\\d+)")}$`);

/** The CORS headers that a browser of another origin needs, and no others. */
const openTo = (origin: string) => ({ "access-control-allow-origin": origin, vary: "origin" });
const preflight = {
  "access-control-allow-methods": "GET, POST, PUT, DELETE",
  "access-control-allow-headers": "authorization, content-type",
};

export async function startSecondService() {
  const { course, move } = makeCourses();
  const routes: Routes = {
    ...backupRoutes((id) => id === serverId, course),
    ...siteRoutes((id) => id === siteId, course),
  };
  const table = Object.entries(routes).map(([row, answer]) => {
    const [method = "", path = ""] = row.split(" ");
    return { method, pattern: toPattern(path), answer };
  });
  const random = makeRandom(20_260_131);
  const asked: string[] = [];

  async function answer(request: IncomingMessage): Promise<Reply> {
    const { method = "GET", headers } = request;
    const { pathname, searchParams, href } = new URL(
      request.url ?? "/",
      `http://${headers.host ?? "localhost"}`,
    );
    asked.push(`${method} ${pathname}`);
    await pause(latencyMs.min + random() * (latencyMs.max - latencyMs.min));
    if (headers.authorization !== `Bearer ${secondToken}`)
      return problem(401, "Who are you?", { title: "Unauthorized" });
    if (asked.length % pauseEvery === 0)
      return { ...problem(429, "One moment."), headers: { "retry-after": "1" } };
    // The interface requires this header on every request.
    if (headers["content-type"] !== "application/json") return problem(415, "Only JSON is read.");
    for (const row of table) {
      const id = row.method === method ? row.pattern.exec(pathname)?.[1] : undefined;
      if (id === undefined) continue;
      const isEmpty =
        !("transfer-encoding" in headers) && (headers["content-length"] ?? "0") === "0";
      const body: Record<string, unknown> = isEmpty ? {} : JSON.parse(await text(request));
      return row.answer({
        id: Number(id),
        query: searchParams,
        body,
        url: href.split("?")[0] ?? "",
      });
    }
    return notThere();
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origin } = request.headers;
    const cors = origin === undefined ? {} : openTo(origin);
    if (request.method === "OPTIONS") {
      response.writeHead(204, { ...cors, ...preflight }).end();
      return;
    }
    const { status, body, headers } = await answer(request);
    const type = body === undefined ? {} : { "content-type": "application/json; charset=utf-8" };
    response.writeHead(status, { ...type, ...headers, ...cors });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${portOf(server)}`;
  return {
    url,
    /** Creates an object over HTTP, like any client. Resolves with its id. */
    async make(path: string, body: object): Promise<number> {
      for (;;) {
        const response = await fetch(url + path, {
          method: "POST",
          headers: { authorization: `Bearer ${secondToken}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        if (response.status === 429) continue;
        const made: { id: number } | { data: { id: number } } = await response.json();
        return "data" in made ? made.data.id : made.id;
      }
    },
    /** Every request so far, as "GET /api/worker/7". */
    asked: asked as readonly string[],
    /** Advances all objects in transit by one state. */
    move,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

export type SecondService = Awaited<ReturnType<typeof startSecondService>>;
