// Serves the dashboard from a copy of its build in front of the service, so that tests can update it and delay its
// responses.
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { portOf } from "../server/testing/port-of.ts";
import { test as base } from "./fixtures.ts";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const types: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

type Installation = {
  url: string;
  /** @param meanwhile runs while nothing responds; the build stays the same */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /**
   * Installs a new build.
   * @param meanwhile runs while nothing responds
   */
  update(meanwhile: () => Promise<void>): Promise<void>;
  /**
   * Delays the responses of all requests from now on.
   * @returns a function that releases them
   */
  hold(): () => void;
};

/** Provides a copy of the dashboard in front of the service. */
export const test = base.extend<{ installation: Installation }>({
  installation: async ({ context, service, expected }, provide) => {
    expected.push(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|404/);
    const folder = await makeMemoryFolder("quarterdeck-update-");
    await cp(dist, folder, { recursive: true });
    let held: Promise<void> = Promise.resolve();
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const path = request.url ?? "/";
      if (path.startsWith("/api/")) {
        await held;
        const headers = { authorization: request.headers.authorization ?? "" };
        const answered = await fetch(service.url + path, { headers });
        response.writeHead(answered.status, { "content-type": "application/json" });
        return response.end(await answered.text());
      }
      const name = extname(path) === "" ? "index.html" : path;
      const content = await readFile(join(folder, name)).catch(() => null);
      if (content === null) return response.writeHead(404).end();
      response.writeHead(200, {
        "content-type": types[extname(name)] ?? "text/plain",
        // Cached as by the service: requests for code would otherwise wait behind the delayed responses, six of which a
        // browser sends in parallel.
        ...(name.startsWith("/assets/") && { "cache-control": "max-age=31536000, immutable" }),
      });
      return response.end(content);
    };
    const listen = async (port: number): Promise<Server> => {
      const server = createServer((request, response) => void answer(request, response));
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      return server;
    };
    const stop = (server: Server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    };
    let server = await listen(0);
    const port = portOf(server);
    await provide({
      hold() {
        const { promise, resolve } = Promise.withResolvers<void>();
        held = promise;
        return resolve;
      },
      url: `http://localhost:${port}`,
      async restart(meanwhile) {
        await stop(server);
        await meanwhile();
        server = await listen(port);
      },
      async update(meanwhile) {
        await stop(server);
        await meanwhile();
        const page = await readFile(join(folder, "index.html"), "utf8");
        const first = /src="(\/assets\/index-[^"]+\.js)"/.exec(page)?.[1] ?? "";
        const next = first.replace("index-", "index-new");
        await writeFile(join(folder, next), `import "${first}";`);
        await writeFile(join(folder, "index.html"), page.replaceAll(first, next));
        // The modules of the old build are removed with it.
        for (const name of await readdir(join(folder, "assets")))
          if (name.startsWith("ActivityPage-")) await rm(join(folder, "assets", name));
        server = await listen(port);
      },
    });
    for (const page of context.pages()) await page.goto("about:blank");
    await stop(server);
    await rm(folder, { recursive: true, force: true });
  },
});
