// Receives the webhooks and Slack messages of the large seed on this machine, and responds to some with errors.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const statusByPath: Record<string, number> = { "/hooks/failing": 500, "/hooks/unsubscribed": 410 };

/**
 * @param port the port of an earlier start, which stored webhooks name; 0 = any free one
 * @returns the port that it listens on
 */
export const startReceiver = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        const status = statusByPath[request.url ?? ""] ?? 200;
        response
          .writeHead(status, { "Content-Type": "text/plain" })
          .end(status === 200 ? "ok" : "");
      });
    });
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      // Does not keep the process running.
      server.unref();
      // A TCP server has an address of this type once it listens.
      resolve((server.address() as AddressInfo).port);
    });
  });
