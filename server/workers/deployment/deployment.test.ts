// A deployment reaches every process that was started before it, with any status of the worker.
import { mkdirSync, readFileSync } from "node:fs";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Worker } from "../../../contract/workers/worker.ts";
import { ownUser } from "../../testing/own-user.ts";
import { endsWhenAsked } from "../../testing/artisan.ts";
import type { TestService } from "../../testing/service.ts";
import { workerBody } from "../../testing/worker-body.ts";
import { sendSignal, signalGroup } from "../../testing/signals.ts";
import { eachWorkerMachine, readNumber } from "../testing/each-machine.ts";
import { soon } from "../../testing/soon.ts";

/** Each test has a site of its own, so that the tests can run concurrently. */
const siteIds = [1, 2, 3, 4, 5, 6, 7, 8];
const rootOf = (folder: string, id: number) => join(folder, `site-${id}`);

let service: TestService;

vi.setConfig({ testTimeout: 300_000 });

/** Records each start, and exits at once if a file `bad-` with the number of the process exists. */
const noting = `
${readNumber}
echo $number >> starts
[ -e bad-$number ] && exit 1
${endsWhenAsked()}`;

function siteOf(siteId: number) {
  const path = (name: string) => join(rootOf(service.folder, siteId), name);
  /** Returns the number of starts of each process, by its number. */
  const starts = () => {
    const lines = readFileSync(path("starts"), "utf8").trim().split("\n").map(Number);
    return [1, 2, 3].map((number) => lines.filter((line) => line === number).length);
  };
  return {
    path,
    artisan: (script: string) => writeFile(path("artisan"), script),
    create: async (change: object = {}): Promise<number> => {
      const body = { ...workerBody, processes: 3, startsecs: 1, stopwaitsecs: 5, ...change };
      return (await service.json<Worker>("POST", `/api/site/${siteId}/worker`, body)).body.id;
    },
    report: (restart: boolean) =>
      service.json<{ id: number; restarted_workers: number }>(
        "POST",
        `/api/site/${siteId}/deployment`,
        { status: "finished", restart_workers: restart },
      ),
    starts,
    /**
     * Waits until the processes were started `counts` times. On a busy machine a process may be up for its start seconds before it has
     * recorded its start.
     */
    notes: (counts: unknown[]) =>
      soon(() => {
        const found = starts();
        expect(found).toEqual(counts);
        return found;
      }),
  };
}

const show = async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body;
const becomes = (id: number, status: string) =>
  soon(async () => {
    const worker = await show(id);
    expect(worker.status, worker.status_reason ?? "").toBe(status);
    return worker;
  });

const carried = (worker: Worker) =>
  (worker.process_list ?? []).map(({ deployment_id: id }) => id ?? null);
/** Waits until a worker is up with all of its processes on the deployment. */
const runs = (id: number, deployment: number) =>
  soon(async () => {
    const worker = await show(id);
    expect(worker).toMatchObject({ status: "installed", deployment_id: deployment });
    expect(carried(worker)).toEqual([deployment, deployment, deployment]);
  });

describe.each(eachWorkerMachine())("On $machine", (machine) => {
  const { isRemote, isWhole, createService, leadsOut } = machine;
  // supervisord does not end the children of a killed process.
  const end = isRemote ? signalGroup : sendSignal;
  beforeAll(async () => {
    service = await createService({
      inventory: (folder) => {
        for (const id of siteIds) mkdirSync(rootOf(folder, id));
        const sites = siteIds.map(
          (id) =>
            `  - { id: ${id}, server: 1, name: site-${id}, root: ${rootOf(folder, id)}, user: ${ownUser}, artisan: [sh, artisan] }`,
        );
        return `servers: [{ id: 1, name: here, connection: local }]\nsites:\n${sites.join("\n")}\n`;
      },
    });
  });
  afterAll(() => service.close());

  describe.concurrent("a deployment", () => {
    test("restarts each process once, and each shows which deployment it runs", async () => {
      const { artisan, create, report, notes } = siteOf(1);
      await artisan(noting);
      const id = await create();
      expect(carried(await becomes(id, "installed"))).toEqual([null, null, null]);
      await notes([1, 1, 1]);
      const { body } = await report(true);
      expect(body.restarted_workers).toBe(1);
      await runs(id, body.id);
      await notes([2, 2, 2]);
    });

    test("restarts into the release to which a link in the directory leads at that time", async () => {
      const { path, create, report } = siteOf(7);
      for (const release of ["1", "2"]) {
        await mkdir(path(`releases/${release}/app`), { recursive: true });
        await writeFile(path(`releases/${release}/app/artisan`), `pwd -P; ${endsWhenAsked()}`);
      }
      await symlink("releases/1", path("current"));
      const id = await create({ processes: 1, startretries: 0, directory: "current/app" });
      const before = await becomes(id, "installed");
      expect(before.directory).toBe("current/app");

      await symlink("releases/2", path("next"));
      await rename(path("next"), path("current"));
      await report(true);
      await soon(async () => {
        const { body } = await service.json<{ text: string }>("GET", `/api/worker/${id}/log`);
        const entered = body.text.split("\n").filter((line) => line.startsWith("/"));
        expect(entered).toEqual([path("releases/1/app"), path("releases/2/app")]);
      });

      // A directory that was inside of the site when the worker was created may later lead out of it.
      await mkdir(join(service.folder, "elsewhere/app"), { recursive: true });
      await symlink(join(service.folder, "elsewhere"), path("away"));
      await rename(path("away"), path("current"));
      await service.call("PUT", `/api/worker/${id}/restart`);
      const { status_reason: reason } = await becomes(id, "failed");
      expect(reason).toContain(leadsOut("current/app", join(service.folder, "elsewhere/app")));
    });

    if (!isWhole) return;
    test("reaches a worker of which one process has just died, including that one", async () => {
      const { artisan, create, report, notes } = siteOf(2);
      await artisan(noting);
      // Long enough that the deployment arrives while the process is being started again.
      const id = await create({ startsecs: 3 });
      const { process_list: list = [] } = await becomes(id, "installed");
      await notes([1, 1, 1]);
      end(list[1]?.pid, "SIGKILL");
      await soon(async () => expect((await show(id)).process_list?.[1]?.restarts).toBe(1));
      await notes([1, 2, 1]);
      const { body } = await report(true);
      expect(body.restarted_workers).toBe(1);
      await runs(id, body.id);
      await notes([2, 3, 2]);
    });

    test("reaches a worker with a failed process, which is up again if the new code is good", async () => {
      const { path, artisan, create, report, notes } = siteOf(3);
      await artisan(noting);
      await writeFile(path("bad-3"), "");
      const id = await create({ startretries: 0 });
      await becomes(id, "failed");
      await soon(async () =>
        expect((await show(id)).process_list?.map(({ state }) => state)).toEqual([
          "RUNNING",
          "RUNNING",
          "FATAL",
        ]),
      );
      // On a busy machine the exit of a bad process may be noticed only after its start seconds, so that it is started once more.
      const [, , bad = 0] = await notes([1, 1, expect.any(Number)]);
      await rename(path("bad-3"), path("good"));
      const { body } = await report(true);
      expect(body.restarted_workers).toBe(1);
      await runs(id, body.id);
      await notes([2, 2, bad + 1]);
    });

    test("reaches a worker that failed and whose number of processes was changed since", async () => {
      const { artisan, path, create, report } = siteOf(8);
      await artisan("[ -e good ] || exit 1; exec sleep 300");
      const changes = [
        [1, 3],
        [3, 1],
      ] as const;
      const ids = await Promise.all(
        changes.map(([processes]) => create({ processes, startretries: 0 })),
      );
      for (const [index, id] of ids.entries()) {
        await becomes(id, "failed");
        await service.call("PUT", `/api/worker/${id}`, { processes: changes[index]?.[1] });
      }
      await writeFile(path("good"), "");
      const { body } = await report(true);
      expect(body.restarted_workers).toBe(2);
      for (const [index, id] of ids.entries()) {
        const now = Array.from({ length: changes[index]?.[1] ?? 0 }, () => body.id);
        expect(carried(await becomes(id, "installed"))).toEqual(now);
      }
    });

    test("right after another one counts, too, and the worker is up only on the newer one", async () => {
      const { artisan, create, report, starts } = siteOf(4);
      await artisan(noting);
      const id = await create();
      await becomes(id, "installed");
      const first = await report(true);
      await soon(async () => expect(carried(await show(id))).toContain(first.body.id));
      const second = await report(true);
      expect(second.body.restarted_workers).toBe(1);
      await runs(id, second.body.id);
      expect(Math.max(...starts())).toBeLessThanOrEqual(3);
    });

    test("without restarts is run only by what starts after it", async () => {
      const { artisan, create, report } = siteOf(5);
      await artisan(noting);
      const id = await create();
      const { process_list: list = [] } = await becomes(id, "installed");
      const { body } = await report(false);
      expect(body.restarted_workers).toBe(0);
      // The worker gets the deployment a moment later.
      await soon(async () => expect((await show(id)).deployment_id).toBe(body.id));
      const number = await soon(async () => {
        const { process_list: now = [] } = await show(id);
        const renewed = now.find((one) => one.deployment_id === body.id);
        const old = now.find((one) => one.deployment_id === null && one.pid !== null);
        if (renewed === undefined && old !== undefined) end(old.pid, "SIGKILL");
        expect(renewed).toBeDefined();
        return renewed?.number;
      });
      expect(number).toBeDefined();
      expect(list).toHaveLength(3);
    });

    test("leaves a stopped worker stopped, and its next start runs the deployment", async () => {
      const { artisan, create, report, notes } = siteOf(6);
      await artisan(noting);
      const id = await create();
      await becomes(id, "installed");
      await notes([1, 1, 1]);
      await service.call("DELETE", `/api/worker/${id}/stop`);
      await becomes(id, "stopped");
      const { body } = await report(true);
      expect(body.restarted_workers).toBe(0);
      await service.call("POST", `/api/worker/${id}/start`);
      await runs(id, body.id);
      await notes([2, 2, 2]);
    });
  });
});
