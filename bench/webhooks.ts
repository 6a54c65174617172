// Compares deliveries with a bare loop of signed requests to the same receivers, and measures the delay of first attempts.
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import type { ReceiverAnswer } from "./webhook-receivers.ts";
import { note, report } from "./report.ts";
import { ownUser } from "../server/testing/own-user.ts";

const living = 15;
const dead = 5;
const events = 1000;
const perSecond = 100;

export async function run(): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
  await mkdir(join(folder, "shop"));
  await writeFile(
    join(folder, "inventory.yaml"),
    `
servers: [{ id: 1, name: here, connection: local }]
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser} }
  - { id: 2, server: 1, name: blog, root: ${folder}/shop, user: ${ownUser} }
`,
  );
  const receivers = await startReceivers();
  const service = await startService(folder, {
    QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
    QUARTERDECK_ALLOW: "127.0.0.0/8",
  });
  try {
    const bare = await bareRate(receivers.urls);
    await subscribe(service, 1, receivers.urls);
    await subscribe(service, 1, receivers.deadUrls);
    await receivers.ask("reset");
    await fanOut(service, receivers, bare);
    await latency(service, receivers);
  } finally {
    await service.end("SIGINT");
    receivers.child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startReceivers() {
  // A separate process, so that receiving takes no time from sending.
  const child: ChildProcess = fork(
    fileURLToPath(new URL("webhook-receivers.ts", import.meta.url)),
    [String(living), String(dead)],
  );
  const first: { urls: string[]; deadUrls: string[] } = (await once(child, "message"))[0];
  const ask = async (question: "reset" | "count"): Promise<ReceiverAnswer> => {
    child.send(question);
    return (await once(child, "message"))[0];
  };
  return { child, ask, ...first };
}
type Receivers = Awaited<ReturnType<typeof startReceivers>>;

const post = (service: ServiceProcess, path: string, body: object) =>
  service.call("POST", path, body).then((response) => response.text());

async function subscribe(service: ServiceProcess, site: number, urls: string[]): Promise<void> {
  for (const url of urls) await post(service, `/api/site/${site}/webhook`, { url });
}

/** Returns signed requests per second, with one loop for each receiver and nothing stored. */
async function bareRate(urls: string[]): Promise<number> {
  const signer = new Webhook(`whsec_${Buffer.alloc(32, 7).toString("base64")}`);
  const each = 200;
  const startedMs = performance.now();
  await Promise.all(
    urls.map(async (url, index) => {
      for (let count = 0; count < each; count++) {
        const at = new Date();
        const id = `msg_${index}_${count}`;
        const body = JSON.stringify({
          type: "site.deployed",
          timestamp: at.toISOString(),
          data: { site_id: 1, site: "shop", server_id: 1, status: "finished", commit: `c${count}` },
        });
        const response = await fetch(url, {
          method: "POST",
          body,
          headers: {
            "content-type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
            "webhook-signature": signer.sign(id, at, body),
          },
        });
        await response.arrayBuffer();
      }
    }),
  );
  return (urls.length * each) / ((performance.now() - startedMs) / 1000);
}

/** Measures how fast the live receivers get 1,000 events that go to 20 receivers, 5 of them dead. */
async function fanOut(service: ServiceProcess, receivers: Receivers, bare: number): Promise<void> {
  const startedMs = performance.now();
  let next = 0;
  const feed = async () => {
    while (next++ < events)
      await post(service, "/api/site/1/deployment", { status: "finished", commit: `c${next}` });
  };
  await Promise.all([feed(), feed(), feed(), feed()]);
  const fedMs = performance.now() - startedMs;
  for (;;) {
    const { arrived } = await receivers.ask("count");
    if (arrived >= living * events) break;
    if (performance.now() - startedMs > 300_000) {
      note(`only ${arrived} of ${living * events} arrived within five minutes`);
      break;
    }
    await wait(50);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const rate = (living * events) / seconds;
  report("deliveries a second against a bare loop of signed requests", rate / bare, "×", {
    atLeast: 0.5,
  });
  note(
    `${Math.round(rate)} against ${Math.round(bare)} a second; ${events} events to ${living} living and ${dead} dead receivers in ${seconds.toFixed(1)} s, the last event made after ${(fedMs / 1000).toFixed(1)} s`,
  );
}

/** Measures the delay at one receiver under a steady stream of events. */
async function latency(service: ServiceProcess, receivers: Receivers): Promise<void> {
  const [url] = receivers.urls;
  if (url === undefined) return;
  await subscribe(service, 2, [url]);
  await wait(2000);
  await receivers.ask("reset");
  const seconds = 10;
  const startedMs = performance.now();
  const asked: Promise<string>[] = [];
  for (let count = 0; count < perSecond * seconds; count++) {
    asked.push(
      post(service, "/api/site/2/deployment", { status: "finished", commit: `l${count}` }),
    );
    await wait(Math.max(0, startedMs + ((count + 1) * 1000) / perSecond - performance.now()));
  }
  await Promise.all(asked);
  let answer = await receivers.ask("count");
  for (let tries = 0; answer.arrived < asked.length && tries < 200; tries++) {
    await wait(50);
    answer = await receivers.ask("count");
  }
  const latencies = answer.latenciesMs.toSorted((a, b) => a - b);
  const p95 = latencies[Math.floor(latencies.length * 0.95)] ?? Infinity;
  report(`event to first attempt, p95 under ${perSecond} events a second`, p95, "ms", {
    atMost: 500,
  });
  note(
    `${latencies.length} of ${asked.length} arrived; median ${Math.round(latencies[latencies.length >> 1] ?? 0)} ms`,
  );
}
