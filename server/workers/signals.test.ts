// Effects of signals to the service on its workers: a kill after a response, SIGHUP, and a second Ctrl-C.
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Worker } from "../../contract/workers/worker.ts";
import { inLongForm } from "../testing/long-form.ts";
import { makeMemoryFolder } from "../testing/memory-folder.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { administer, createDatabase, databaseUrl, oneSite } from "../testing/service.ts";
import { startService, type ServiceProcess } from "../testing/service-process.ts";
import { workerBody } from "../testing/worker-body.ts";
import { eachWorkerMachine } from "./testing/each-machine.ts";
import { supportsAdoption } from "./supervisor/process-table.ts";
import { isRunning } from "./supervisor/testing/supervisor.ts";
import { sendSignal } from "../testing/signals.ts";
import { soon } from "../testing/soon.ts";

/** `npm run soak` sets more. */
const rounds = Number(process.env["RESTART_ROUNDS"] ?? 1);
const seed = makeSeed();
vi.setConfig({ testTimeout: 120_000 + rounds * 60_000, hookTimeout: 120_000 });

let folder: string;
let database: string;
let service: ServiceProcess;
/** Processes that ignore SIGTERM, to be killed after the tests. */
const stubborn: number[] = [];
const start = () => startService(folder, { DATABASE_URL: databaseUrl(database) });
const artisan = (script: string) => writeFile(join(folder, "shop/artisan"), script);
const show = async (id: number): Promise<Worker> =>
  (await service.call("GET", `/api/worker/${id}`)).json();
const becomes = (id: number, status: string) =>
  soon(async () => {
    const worker = await show(id);
    expect(worker.status).toBe(status);
    return worker;
  });
const create = async (change: object = {}): Promise<Worker> => {
  const response = await service.call("POST", "/api/site/1/worker", { ...workerBody, ...change });
  const { id }: Worker = await response.json();
  return becomes(id, "installed");
};
const pidsOf = ({ process_list: list = [] }: Worker) => list.map(({ pid }) => pid ?? 0);

describe.skipIf(!supportsAdoption).each(eachWorkerMachine().filter(({ isWhole }) => isWhole))(
  "With workers on $machine, a service",
  ({ isRemote, entryOf }) => {
    beforeAll(async () => {
      folder = await realpath(await makeMemoryFolder("quarterdeck-signals-"));
      await mkdir(join(folder, "shop"));
      const inventory = oneSite(folder).replace("connection: local", await entryOf());
      await writeFile(join(folder, "inventory.yaml"), inventory);
      database = await createDatabase();
      service = await start();
    });
    afterAll(async () => {
      // Not SIGINT, which would wait for processes that ignore their stop signal.
      await service.end("SIGTERM");
      for (const pid of stubborn) if (isRunning(pid)) sendSignal(pid, "SIGKILL");
      await administer(`drop database ${database} with (force)`);
      await rm(folder, { recursive: true, force: true });
    });

    // Only in the long form, because `stops.test.ts` tests that the next start of the service carries out an accepted order.
    inLongForm(() => {
      test("that is killed after it accepted a restart carries it out after its own restart", async () => {
        const random = makeRandom(seed);
        await artisan("exec sleep 300");
        const { id } = await create({ processes: 2 });
        for (let round = 0; round < rounds; round += 1) {
          const before = pidsOf(await show(id));
          expect((await service.call("PUT", `/api/worker/${id}/restart`)).status).toBe(204);
          await wait(random() * 40);
          await service.end("SIGKILL");
          service = await start();
          const after = pidsOf(await becomes(id, "installed"));
          expect(
            after.filter((pid) => before.includes(pid)),
            `round ${round} (CRASH_SEED=${seed})`,
          ).toEqual([]);
          expect(before.filter(isRunning)).toEqual([]);
        }
        await service.call("DELETE", `/api/worker/${id}`);
      });
    });

    test("continues at SIGHUP, and reads its inventory again", async () => {
      service.child.kill("SIGHUP");
      await soon(() => expect(service.output()).toContain("reading the inventory again"));
      expect((await service.call("GET", "/api/site/1")).status).toBe(200);
    });

    test("exits at once at a second Ctrl-C, and the next one takes over what had not ended", async () => {
      await artisan("trap '' TERM; echo deaf; exec sleep 300");
      const { id, process_list: list = [] } = await create({ stopwaitsecs: isRemote ? 1 : 300 });
      const pid = list[0]?.pid ?? 0;
      stubborn.push(pid);
      await soon(async () => {
        const log = await service.call("GET", `/api/worker/${id}/log`);
        expect(await log.text()).toContain("deaf");
      });
      service.child.kill("SIGINT");
      await soon(() => expect(service.output()).toContain('"msg":"stopping"'));
      await service.end("SIGINT");
      // Processes of supervisord keep running, so the service may have ended after the first signal.
      expect(isRemote ? [0, 130] : [130]).toContain(service.child.exitCode);
      expect(isRunning(pid)).toBe(true);

      service = await start();
      // Its state is not checked, because the stop may or may not have begun before the service ended.
      expect((await show(id)).process_list).toMatchObject([{ pid }]);
      sendSignal(pid, "SIGKILL");
      // Checks the pid as well, because the status may still be the one from before the kill.
      await soon(async () => {
        const worker = await show(id);
        expect(worker.status).toBe("installed");
        expect(pidsOf(worker)).not.toContain(pid);
        stubborn.push(...pidsOf(worker));
      });
    });
  },
);
