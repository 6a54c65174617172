// The service is updated while a tab is open: the tab says so once, and the next page that is opened is of the new build.
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeMemoryFolder } from "../server/testing/memory-folder.ts";
import { portOf } from "../server/testing/port-of.ts";
import { expect, test as base } from "./fixtures.ts";
import { connectAs } from "./helpers.ts";

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
  /** @param meanwhile runs while nothing answers */
  update(meanwhile: () => Promise<void>): Promise<void>;
};

/** The dashboard from a folder of its own, in front of the service, as an update replaces it. */
const test = base.extend<{ installation: Installation }>({
  installation: async ({ context, service, expected }, provide) => {
    expected.push(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|404/);
    const folder = await makeMemoryFolder("quarterdeck-update-");
    await cp(dist, folder, { recursive: true });
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const path = request.url ?? "/";
      if (path.startsWith("/api/")) {
        const headers = { authorization: request.headers.authorization ?? "" };
        const answered = await fetch(service.url + path, { headers });
        response.writeHead(answered.status, { "content-type": "application/json" });
        return response.end(await answered.text());
      }
      const name = extname(path) === "" ? "index.html" : path;
      const content = await readFile(join(folder, name)).catch(() => null);
      if (content === null) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": types[extname(name)] ?? "text/plain" });
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
      url: `http://localhost:${port}`,
      async update(meanwhile) {
        await stop(server);
        await meanwhile();
        const page = await readFile(join(folder, "index.html"), "utf8");
        const first = /src="(\/assets\/index-[^"]+\.js)"/.exec(page)?.[1] ?? "";
        const next = first.replace("index-", "index-new");
        await writeFile(join(folder, next), `import "${first}";`);
        await writeFile(join(folder, "index.html"), page.replaceAll(first, next));
        // The code of the old build's pages is gone with it.
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

test("an open tab says once that there is a new build, loses nothing that is typed, and takes it with the next page", async ({
  page,
  site,
  installation,
}) => {
  await connectAs(page, installation.url);
  await page.goto(`${installation.url}/sites/${site.id}/workers/new`);
  await expect(page.getByRole("log", { name: "Changes" })).toBeAttached({ timeout: 15_000 });
  const queue = page.getByLabel("Queue", { exact: true });
  await queue.fill("typed before the update");
  const loadedAt = () => page.evaluate(() => performance.timeOrigin);
  const before = await loadedAt();

  await installation.update(async () => {
    // Prepares what the link leads to, and finds nobody there.
    await page.getByRole("link", { name: "Activity" }).first().hover();
    await expect(page.getByText(/Unreachable since/)).toBeVisible({ timeout: 15_000 });
  });
  const news = page.getByRole("status").getByText("Quarterdeck was updated.");
  await expect(news).toBeVisible({ timeout: 30_000 });
  await expect(queue).toHaveValue("typed before the update");
  expect(await loadedAt()).toBe(before);
  await page.getByRole("button", { name: "Dismiss" }).click();

  await page.getByRole("link", { name: "Settings" }).first().click();
  await page.getByRole("button", { name: "Keep editing" }).click();
  await expect(queue).toHaveValue("typed before the update");
  expect(await loadedAt()).toBe(before);
  await page.getByRole("link", { name: "Settings" }).first().click();
  const loaded = page.waitForEvent("load");
  await page.getByRole("button", { name: "Discard changes" }).click();
  await loaded;
  expect(await loadedAt()).not.toBe(before);
  await expect(page.getByRole("heading", { name: "Settings", level: 1 })).toBeVisible();
  await expect(news).toBeHidden();
});
