// The service is killed at random times, and the processes of its workers must keep running.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { makeMemoryFolder } from "../testing/memory-folder.ts";
import { endsWhenAsked } from "../testing/artisan.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { administer, createDatabase, databaseUrl, oneSite } from "../testing/service.ts";
import { startService, type ServiceProcess } from "../testing/service-process.ts";
import { workerBody } from "../testing/worker-body.ts";
import { supportsAdoption } from "./supervisor/process-table.ts";
import { sendSignal } from "../testing/signals.ts";
import { soon } from "../testing/soon.ts";

/** `npm run soak -- kills` sets more. */
const rounds = Number(process.env["WORKER_KILLS"] ?? 2);
const seed = makeSeed();

let folder: string;
let database: string;
let service: ServiceProcess;

const start = () => startService(folder, { DATABASE_URL: databaseUrl(database) });

beforeAll(async () => {
  folder = await realpath(await makeMemoryFolder("quarterdeck-crash-"));
  await mkdir(join(folder, "shop"));
  await writeFile(join(folder, "shop/artisan"), endsWhenAsked());
  await writeFile(join(folder, "inventory.yaml"), oneSite(folder));
  database = await createDatabase();
  service = await start();
});
afterAll(async () => {
  await service.end("SIGINT");
  await administer(`drop database ${database} with (force)`);
  await rm(folder, { recursive: true, force: true });
});

const list = async (): Promise<Worker[]> => {
  const { data }: Page<Worker> = await (await service.call("GET", "/api/site/1/workers")).json();
  return data;
};

/** Returns all processes of workers that run in the site's folder, including unknown ones. */
const livingPids = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && runsInSite(name))
    .map(Number)
    .sort((a, b) => a - b);

function runsInSite(pid: string): boolean {
  try {
    if (readlinkSync(`/proc/${pid}/cwd`) !== join(folder, "shop")) return false;
    // Only the process of the worker leads its process group, not its child `sleep`.
    const [, , group] =
      readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
    return group === pid;
  } catch {
    return false;
  }
}

test.skipIf(!supportsAdoption)(
  `over ${rounds} kills of the service no worker is lost, duplicated or left behind (CRASH_SEED=${seed})`,
  { timeout: 120_000 + rounds * 15_000 },
  async () => {
    const random = makeRandom(seed);
    for (let count = 0; count < 3; count++)
      await service.call("POST", "/api/site/1/worker", {
        ...workerBody,
        processes: 2,
        startsecs: count % 2,
      });

    for (let round = 0; round < rounds; round++) {
      // In some rounds all processes are up, in others some are starting or restarting.
      const isMoving = random() < 0.4;
      if (isMoving)
        await service.call("PUT", `/api/worker/${1 + Math.floor(random() * 3)}/restart`);
      await wait(random() * 500);
      const before = livingPids();
      await service.end("SIGKILL");
      const victim = random() < 0.5 ? before[Math.floor(random() * before.length)] : undefined;
      if (victim !== undefined) sendSignal(victim, "SIGKILL");
      const survivors = livingPids().filter((pid) => pid !== victim);
      service = await start();

      // A process that was being restarted may still be exiting when its successor is up.
      const known = await soon(async () => {
        const now = await list();
        expect(now.map(({ status }) => status)).toEqual(["installed", "installed", "installed"]);
        const pids = now.flatMap(({ process_list = [] }) =>
          process_list.map(({ pid }) => pid ?? 0),
        );
        expect(
          pids.sort((a, b) => a - b),
          `round ${round}: every process is known, none twice`,
        ).toEqual(livingPids());
        return pids;
      });
      expect(known, `round ${round}`).toHaveLength(6);
      // A process that was being restarted may exit; every other process must be the same as before.
      if (round > 0 && !isMoving)
        expect(known, `round ${round}`).toEqual(expect.arrayContaining(survivors));
    }

    for (const { id } of await list()) await service.call("DELETE", `/api/worker/${id}`);
    await soon(async () => expect(await list()).toEqual([]));
    expect(livingPids()).toEqual([]);
  },
);
