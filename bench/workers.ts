// Measures workers: the list under load, the time from a click to a running process, and the idle service.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import autocannon from "autocannon";
import { launchOptions } from "../server/setup/browser.ts";
import { buildDashboard } from "../server/setup/build.ts";
import { serviceToken, startService } from "../server/testing/service-process.ts";
import { workerBody } from "../server/testing/worker-body.ts";
import { startDatabase, storeWorkers } from "./database.ts";
import { median, note, report } from "./report.ts";
import { ownUser } from "../server/testing/own-user.ts";

const workerCount = 100_000;
const connections = 10;
const loadSeconds = 10;

const inventory = (folder: string) => `
servers: [{ id: 1, name: here, connection: local }]
sites: [{ id: 1, server: 1, name: shop, root: ${folder}/shop, user: ${ownUser}, artisan: [sh, artisan] }]
`;

export async function run(): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
  try {
    // When started by root, the database runs as another account, which must be able to enter its folder.
    await chmod(folder, 0o711);
    await mkdir(join(folder, "shop"));
    await writeFile(
      join(folder, "shop/artisan"),
      "trap 'exit 0' TERM; while :; do sleep 0.1; done",
    );
    await writeFile(join(folder, "inventory.yaml"), inventory(folder));
    await buildDashboard();
    await measureRest(folder);
    await measureClick(folder);
    await measureList(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures a warm start, and the memory of the idle service and its database. */
async function measureRest(folder: string): Promise<void> {
  const data = join(folder, "rest");
  const environment = { QUARTERDECK_INVENTORY: join(folder, "inventory.yaml") };
  await (await startService(data, environment)).end("SIGINT");
  const readyMs: number[] = [];
  for (let round = 0; round < 5; round++) {
    const service = await startService(data, environment);
    readyMs.push(service.readyMs);
    if (round === 4) {
      await wait(5000);
      const own = await residentMb(service.pid);
      const database = await databaseMb(join(data, "postgres"));
      report("service at rest, resident", own, "MB", { atMost: 200 });
      note(
        `beside it the embedded PostgreSQL: ${database.toFixed(0)} MB, shared pages counted once`,
      );
    }
    await service.end("SIGINT");
  }
  report("start to ready, warm (median of 5)", median(readyMs) / 1000, "s", { atMost: 1.5 });
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Returns the proportional set size of all processes of the database: a shared page counts once. */
async function databaseMb(postgresFolder: string): Promise<number> {
  const list = spawn("pgrep", ["-f", postgresFolder]);
  const pids = (await list.stdout.toArray()).join("").trim().split("\n").map(Number);
  let totalKb = 0;
  for (const parent of pids)
    for (const pid of [parent, ...(await childrenOf(parent))]) {
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
      totalKb += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    }
  return totalKb / 1024;
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return text.trim().split(" ").filter(Boolean).map(Number);
}

/** Measures the time from the click on "Start" to `installed` in the browser, without the start seconds. */
async function measureClick(folder: string): Promise<void> {
  const service = await startService(join(folder, "click"), {
    QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
  });
  const startsecs = 1;
  await service.call("POST", "/api/site/1/worker", { ...workerBody, startsecs });
  const browser = await chromium.launch(launchOptions());
  try {
    const page = await browser.newPage();
    await page.goto(`${service.url}/#token=${encodeURIComponent(serviceToken)}`);
    await page.goto(`${service.url}/sites/1/workers`);
    const row = page.getByRole("row").filter({ hasText: "database" });
    // Each row contains the state twice, for wide and for narrow screens.
    const seen = (word: string) =>
      row.getByText(word, { exact: true }).filter({ visible: true }).first().waitFor();
    await seen("installed");
    const times: number[] = [];
    for (let round = 0; round < 7; round++) {
      await row.getByRole("button", { name: /^Stop .+worker/ }).click();
      await seen("stopped");
      const clickedMs = performance.now();
      await row.getByRole("button", { name: /^Start .+worker/ }).click();
      await seen("installed");
      times.push((performance.now() - clickedMs) / 1000 - startsecs);
    }
    report(`“Start” to “installed” on screen, less startsecs (median of 7)`, median(times), "s", {
      atMost: 1.5,
    });
  } finally {
    await browser.close();
    await service.end("SIGINT");
  }
}

/** Compares a page of 20 of 100,000 workers through the whole stack with the same SQL behind a bare handler. */
async function measureList(folder: string): Promise<void> {
  const { url, stop } = await startDatabase(folder);
  const service = await startService(join(folder, "list"), {
    QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
    DATABASE_URL: url,
  });
  const bareList = fileURLToPath(new URL("bare-list.ts", import.meta.url));
  const bare = spawn(process.execPath, [bareList], { env: { DATABASE_URL: url } });
  try {
    await storeWorkers(url, workerCount);
    const [line]: unknown[] = await once(bare.stdout, "data");
    const bareUrl = String(line).trim();
    const headers = { Authorization: `Bearer ${serviceToken}`, Accept: "application/json" };
    const ours: autocannon.Result[] = [];
    const theirs: autocannon.Result[] = [];
    // Alternates, so that other load of the machine affects both.
    for (let round = 0; round < 2; round++) {
      theirs.push(await load(`${bareUrl}/api/site/1/workers`, headers));
      ours.push(await load(`${service.url}/api/site/1/workers`, headers));
    }
    const rate = (results: autocannon.Result[]) => median(results.map((r) => r.requests.average));
    note(
      `bare handler ${rate(theirs).toFixed(0)} requests/s, whole stack ${rate(ours).toFixed(0)}`,
    );
    report(
      "list of 20 from 100,000 workers, of the bare handler's rate",
      rate(ours) / rate(theirs),
      "×",
      {
        atLeast: 0.6,
      },
    );
    report("its p99 at 10 connections", median(ours.map((r) => r.latency.p99)), "ms", {
      atMost: 25,
    });
    note(`p99 of the bare handler: ${median(theirs.map((r) => r.latency.p99))} ms`);
  } finally {
    bare.kill();
    await service.end("SIGINT");
    await stop();
  }
}

async function load(url: string, headers: Record<string, string>): Promise<autocannon.Result> {
  await autocannon({ url, headers, connections, duration: 2 });
  const result = await autocannon({ url, headers, connections, duration: loadSeconds });
  if (result.non2xx > 0)
    throw new Error(`${url} answered ${result.non2xx} requests with an error.`);
  return result;
}
