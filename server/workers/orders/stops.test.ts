// Results of stops and restarts: the reason of the state, the timeline, and orders that the next start of the service carries out.
import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Activity } from "../../../contract/activity.ts";
import type { Worker } from "../../../contract/workers/worker.ts";
import { createApp } from "../../app.ts";
import { patientArtisan } from "../../testing/artisan.ts";
import type { TestService } from "../../testing/service.ts";
import { workerBody } from "../../testing/worker-body.ts";
import { eachWorkerMachine } from "../testing/each-machine.ts";
import { soon } from "../../testing/soon.ts";
import { inShortFormIf } from "../../testing/long-form.ts";

vi.setConfig({ testTimeout: 300_000 });

let service: TestService;

const artisan = (script: string) => writeFile(join(service.folder, "shop/artisan"), script);
const show = async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body;
const becomes = (id: number, status: string) =>
  soon(async () => {
    const worker = await show(id);
    expect(worker.status).toBe(status);
    return worker;
  });
const create = async (change: object = {}): Promise<Worker> => {
  const body = { ...workerBody, ...change };
  const { id } = (await service.json<Worker>("POST", "/api/site/1/worker", body)).body;
  return becomes(id, "installed");
};
/** Ignores SIGTERM once it has printed its line. */
const deafArtisan = "trap '' TERM; echo deaf; sleep 300";
const areDeaf = (id: number, processes = 1) =>
  soon(async () => {
    const log = (await service.json<{ text: string }>("GET", `/api/worker/${id}/log`)).body;
    expect(log.text.match(/^deaf$/gm)).toHaveLength(processes);
  });
const pids = ({ process_list: list = [] }: Worker) => list.map(({ pid }) => pid ?? 0);
const killings = async (id: number) => {
  const { body } = await service.json<Activity>("GET", "/api/activity?kind=worker");
  return body.data.filter(({ action, object }) => action === "killed" && object.id === id);
};

describe.each(eachWorkerMachine())("On $machine", (machine) => {
  const { isWhole, createService, leadsOut, notesKills } = machine;
  beforeAll(async () => {
    service = await createService();
  });
  afterAll(() => service.close());

  test("a stop that has to kill says so: in the reason, on the timeline, in the log", async () => {
    await artisan(deafArtisan);
    const { id } = await create({ processes: 2, stopwaitsecs: 1 });
    await areDeaf(id, 2);
    await service.call("DELETE", `/api/worker/${id}/stop`);
    const text = "Processes 1 and 2: Killed: still running 1 second after SIGTERM.";
    expect((await becomes(id, "stopped")).status_reason).toBe(text);
    // One entry, or one for each process if the second was killed after the first was recorded.
    const entries = await killings(id);
    for (const entry of entries)
      expect(entry).toMatchObject({
        outcome: "bad",
        object: { type: "worker", id },
        actor: { type: "supervisor" },
      });
    expect(entries.flatMap(({ detail }) => detail?.match(/\d(?= and|:|$)/g) ?? []).sort()).toEqual([
      "1",
      "2",
    ]);
    const { text: log } = (await service.json<{ text: string }>("GET", `/api/worker/${id}/log`))
      .body;
    expect([...log.matchAll(/^\[quarterdeck\] .* Killed: still running .*$/gm)]).toHaveLength(
      notesKills ? 2 : 0,
    );

    await service.call("POST", `/api/worker/${id}/start`);
    expect((await becomes(id, "installed")).status_reason).toBe(null);
  });

  inShortFormIf(isWhole, () => {
    test("when its site moves, a worker without a directory follows, and one that names the old place shows why not", async () => {
      await artisan("exec sleep 300");
      const old = join(service.folder, "shop");
      const moved = join(service.folder, "moved");
      // Limits the duration of its restart if supervisord's stop signal is lost.
      const follows = await create({ stopwaitsecs: 5 });
      const names = await create({ directory: old, startsecs: 1, startretries: 0 });
      await mkdir(moved);
      await writeFile(join(moved, "artisan"), "exec sleep 300");
      const isAt = (root: string) =>
        soon(async () => {
          const { body } = await service.json<{ root: string }>("GET", "/api/site/1");
          expect(body.root).toBe(root);
        });
      const inventory = await readFile(service.inventoryFile, "utf8");
      await writeFile(service.inventoryFile, inventory.replace(`root: ${old}`, `root: ${moved}`));
      await isAt(moved);
      for (const { id } of [follows, names]) await service.call("PUT", `/api/worker/${id}/restart`);
      expect((await becomes(names.id, "failed")).status_reason).toContain(leadsOut(old, old));
      const [pid] = pids(await becomes(follows.id, "installed"));
      expect(await readlink(`/proc/${pid}/cwd`)).toBe(moved);
      await writeFile(service.inventoryFile, inventory);
      await isAt(old);
    });
  });

  inShortFormIf(isWhole, () => {
    test("the next service carries out an accepted restart, once for each process", async () => {
      await artisan(patientArtisan);
      const { id } = await create({ processes: 2 });
      const restarted = await create();
      const before = pids(await show(id));
      const others = pids(restarted);
      await service.app.close("keep");
      // The row after an accepted restart, as if the service had been killed before it carried the order out.
      const client = new pg.Client(service.connection);
      await client.connect();
      await client.query(
        "update workers set status = 'restarting', transition = transition + 1, restart_order = transition + 1 where id = $1",
        [id],
      );
      await client.end();

      service.app = await createApp(service.options);
      const after = pids(await becomes(id, "installed"));
      expect(after.filter((pid) => before.includes(pid))).toEqual([]);
      expect(pids(await show(restarted.id))).toEqual(others);

      await service.app.close("keep");
      service.app = await createApp(service.options);
      expect(pids(await becomes(id, "installed"))).toEqual(after);
    });
  });

  if (!isWhole) return;
  test("stopasgroup is stored and shown, and is off by default", async () => {
    await artisan("exec sleep 300");
    expect((await create()).stopasgroup).toBe(false);
    expect((await create({ stopasgroup: true })).stopasgroup).toBe(true);
  });

  test("a restart that has to kill says so about the worker that is up again", async () => {
    await artisan(deafArtisan);
    const { id } = await create({ stopwaitsecs: 1 });
    await areDeaf(id);
    await service.call("PUT", `/api/worker/${id}/restart`);
    const text = "Process 1: Killed: still running 1 second after SIGTERM.";
    expect((await becomes(id, "installed")).status_reason).toBe(text);
    expect(await killings(id)).toHaveLength(1);
    await areDeaf(id, 2);
    await service.call("PUT", `/api/worker/${id}/restart`);
    expect((await show(id)).status_reason).toBe(null);
  });

  test("a worker that had to be killed is on the timeline when it is deleted, too", async () => {
    await artisan(deafArtisan);
    const { id } = await create({ stopwaitsecs: 1 });
    await areDeaf(id);
    await service.call("DELETE", `/api/worker/${id}`);
    await soon(async () =>
      expect((await service.call("GET", `/api/worker/${id}`)).status).toBe(404),
    );
    expect(await killings(id)).toMatchObject([{ object: { id } }]);
  });

  test("a worker that has ended is stopped, even if an earlier stop was recorded as failed", async () => {
    await artisan(patientArtisan);
    const { id } = await create();
    await service.call("DELETE", `/api/worker/${id}/stop`);
    await becomes(id, "stopped");
    // As after a stop whose deadline passed before its end was observed.
    const client = new pg.Client(service.connection);
    await client.connect();
    await client.query("update workers set status = 'failed' where id = $1", [id]);
    await client.end();
    expect((await show(id)).status).toBe("failed");
    await service.call("DELETE", `/api/worker/${id}/stop`);
    await becomes(id, "stopped");
  });

  test("carries out more simultaneous orders than the database has connections", async () => {
    await artisan("exec sleep 300");
    const workers = await Promise.all(Array.from({ length: 12 }, () => create()));
    const answers = await Promise.all(
      workers.map(({ id }) => service.call("DELETE", `/api/worker/${id}/stop`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(workers.map(() => 204));
    for (const { id } of workers) await becomes(id, "stopped");
  });
});
