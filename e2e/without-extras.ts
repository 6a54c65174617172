// Starts a proxy in front of the real service that answers 404 to the given extras, like the service of another
// vendor that has only the interface's operations.
import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { operations } from "../contract/operations.ts";
import { portOf } from "../server/testing/port-of.ts";

type Extra =
  | "search"
  | "listNotificationChannels"
  | "listActivity"
  | "listServers"
  | "showCurrentToken"
  | "showInstallation"
  | "showInventory"
  | "showOverview"
  | "showNotificationEvents";

export async function withoutExtras(behind: string, ...extras: Extra[]) {
  const closed = new RegExp(
    `^(?:${extras.map((name) => operations[name].path.replace(/\{\w+\}/g, "\\d+")).join("|")})$`,
  );
  const server = createServer((request, response) => {
    const { method = "GET", headers, url = "/" } = request;
    const answer = async () => {
      if (closed.test(url.replace(/\?.*/, ""))) {
        response.writeHead(404, { "content-type": "application/json" });
        return response.end(JSON.stringify({ message: "Not found." }));
      }
      const { host: _host, connection: _connection, ...passed } = headers;
      const got = await fetch(behind + url, {
        method,
        // Node returns a repeated header as a list; the dashboard repeats none.
        headers: passed as Record<string, string>,
        // Node's type of a web stream lacks members of the browser's type.
        ...(method !== "GET" && { body: Readable.toWeb(request) as BodyInit, duplex: "half" }),
      });
      const {
        "content-encoding": _coding,
        "content-length": _length,
        ...kept
      } = Object.fromEntries(got.headers);
      response.writeHead(got.status, kept);
      if (got.body === null) return response.end();
      // `fetch` has the browser's types; at run time its body is a stream of Node.
      return Readable.fromWeb(got.body as ReadableStream).pipe(response);
    };
    answer().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
