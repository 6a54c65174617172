// Runs the receivers of the webhooks' benchmark in a separate process: some accept requests, some never respond.
import { createServer } from "node:http";
import { once } from "node:events";
import { portOf } from "../server/testing/port-of.ts";

export type ReceiverAnswer = {
  arrived: number;
  /** From each event's own timestamp to its arrival. */
  latenciesMs: number[];
};

const [living = 0, dead = 0] = process.argv.slice(2).map(Number);
let arrived = 0;
let latenciesMs: number[] = [];

async function listen(isDead: boolean): Promise<string> {
  const server = createServer((request, response) => {
    if (isDead) return;
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      arrived += 1;
      const { timestamp }: { timestamp: string } = JSON.parse(body);
      latenciesMs.push(Date.now() - Date.parse(timestamp));
      response.end("ok");
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${portOf(server)}/`;
}

const open = (count: number, isDead: boolean) =>
  Promise.all(Array.from({ length: count }, () => listen(isDead)));

process.send?.({ urls: await open(living, false), deadUrls: await open(dead, true) });
process.on("message", (question) => {
  if (question === "reset") {
    arrived = 0;
    latenciesMs = [];
  }
  process.send?.({ arrived, latenciesMs } satisfies ReceiverAnswer);
});
