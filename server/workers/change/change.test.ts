import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Activity } from "../../../contract/activity.ts";
import type { Page } from "../../../contract/paging.ts";
import type { Worker } from "../../../contract/workers/worker.ts";
import { endsWhenAsked } from "../../testing/artisan.ts";
import { inLongForm } from "../../testing/long-form.ts";
import type { TestService } from "../../testing/service.ts";
import { workerBody } from "../../testing/worker-body.ts";
import { eachWorkerMachine, readNumber } from "../testing/each-machine.ts";
import { soon } from "../../testing/soon.ts";

let service: TestService;

const artisan = (script: string) => writeFile(join(service.folder, "shop/artisan"), script);
/** Records each start with the number of the process and its queue. */
const note = `${readNumber}; echo "$number \${3#*=}" >> starts`;
const works = `${note}; ${endsWhenAsked()}`;
/** As `works`, but exits at once for the queue "bad". */
const failsIfBad = `case "$3" in *bad*) echo "no queue bad"; exit 1;; esac; ${works}`;
/** Returns the recorded starts, in order. */
const starts = () => readFileSync(join(service.folder, "shop/starts"), "utf8").trim().split("\n");

const show = async (id: number) => (await service.json<Worker>("GET", `/api/worker/${id}`)).body;
const settled = (id: number, status: string) =>
  soon(async () => {
    const worker = await show(id);
    expect({ status: worker.status, isChanging: worker.is_changing }).toEqual({
      status,
      isChanging: false,
    });
    return worker;
  });
const create = async (change: object = {}): Promise<Worker> => {
  const body = { ...workerBody, startsecs: 1, ...change };
  const made = await service.json<Worker>("POST", "/api/site/1/worker", body);
  expect(made.status).toBe(201);
  const worker = await settled(made.body.id, "installed");
  // On a busy machine a process may be up for its start seconds before it has recorded its start.
  await soon(() => expect(starts().length).toBeGreaterThanOrEqual(worker.processes ?? 1));
  return worker;
};
const change = (id: number, body: object) => service.json<Worker>("PUT", `/api/worker/${id}`, body);
const pids = ({ process_list: list = [] }: Worker) => list.map(({ pid }) => pid);
/** Returns the worker's timeline entries without kills after a lost signal; see `expectNoReason`. */
const newest = async (id: number) => {
  const { body } = await service.json<Activity>("GET", "/api/activity?kind=worker");
  return body.data
    .filter(({ object, action }) => object.id === id && action !== "killed")
    .map(({ action, actor, detail }) => ({ action, actor: actor.type, detail }));
};

describe.each(eachWorkerMachine())("on $machine", ({ isRemote, isWhole, createService }) => {
  beforeAll(async () => {
    service = await createService();
  });
  afterAll(() => service.close());
  beforeEach(() => artisan(works));
  afterEach(async () => {
    // Does not wait for the end of the removal, which does not affect the next test.
    const { body } = await service.json<Page<Worker>>("GET", "/api/site/1/workers");
    for (const { id } of body.data) await service.call("DELETE", `/api/worker/${id}`);
    await rm(join(service.folder, "shop/starts"), { force: true });
  });

  /** A signal of supervisord between fork and exec is lost: supervisord then kills the process, and the worker has that as reason. */
  const expectNoReason = ({ status_reason: reason }: Worker) =>
    expect(reason ?? "").toMatch(
      isRemote ? /^(?:Process \d+: Killed: still running \d+ seconds after SIGTERM\.)?$/ : /^$/,
    );
  /** supervisord may start a process once more with the old settings before replacing it. */
  const maySeeOldAgain = isRemote;
  const startsWithNew = (count: number) =>
    starts()
      .slice(count)
      .filter((line) => !maySeeOldAgain || !line.endsWith(" default"));

  describe("a change of a running worker", () => {
    test("replaces its processes one after the other, and keeps absent fields", async () => {
      // A process whose signal is lost is killed after these seconds.
      const { id, stopwaitsecs } = await create({ processes: 3, stopwaitsecs: 10 });
      const { status, body } = await change(id, { queue: "high", memory: 256 });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        status: "restarting",
        is_changing: true,
        queue: "high",
        memory: 256,
        tries: 1,
        stopwaitsecs,
        processes: 3,
      });
      const seen = new Set<number>();
      await soon(async () => {
        const { process_list: list = [], is_changing: isChanging } = await show(id);
        seen.add(list.filter(({ state }) => state !== "RUNNING").length);
        expect(isChanging).toBe(false);
      });
      expect(Math.max(...seen)).toBe(1);
      const worker = await settled(id, "installed");
      expect(worker.queue).toBe("high");
      expectNoReason(worker);
      await soon(() => expect(startsWithNew(3)).toEqual(["1 high", "2 high", "3 high"]));
      expect(await newest(id)).toContainEqual({
        action: "changed",
        actor: "token",
        detail: "queue default → high, memory 128 → 256",
      });
    });

    if (!isWhole) return;
    test("lets each process finish its job within the stop seconds that it was started with", async () => {
      await artisan(`${note}; ${endsWhenAsked("sleep 2; echo done >> jobs;")}`);
      const { id } = await create({ stopwaitsecs: 30 });
      await change(id, { queue: "high", stopwaitsecs: 1 });
      const worker = await settled(id, "installed");
      expectNoReason(worker);
      expect(readFileSync(join(service.folder, "shop/jobs"), "utf8")).toMatch(
        maySeeOldAgain ? /^(?:done\n){1,2}$/ : /^done\n$/,
      );
    });

    test("to more or fewer processes does not affect the others", async () => {
      const one = await create();
      await change(one.id, { processes: 3 });
      const three = await settled(one.id, "installed");
      expect(pids(three)).toHaveLength(3);
      expect(pids(three)[0]).toBe(pids(one)[0]);
      await change(one.id, { processes: 1 });
      expect(pids(await settled(one.id, "installed"))).toEqual(pids(one));
    });

    test("without any difference restarts nothing", async () => {
      const before = await create();
      expect((await change(before.id, { queue: "default" })).body.status).toBe("installed");
      expect((await change(before.id, {})).body.status).toBe("installed");
      expect(pids(await show(before.id))).toEqual(pids(before));
    });
  });

  if (!isWhole) return;
  describe("a change that cannot start", () => {
    test("is reverted and reported, and processes that were not replaced yet continue", async () => {
      await artisan(failsIfBad);
      const before = await create({ processes: 3 });
      await change(before.id, { queue: "bad", processes: 4, memory: 512 });
      const after = await settled(before.id, "installed");
      expect(after).toMatchObject({ queue: "default", processes: 3, memory: 128 });
      expect(after.status_reason).toMatch(/^The change was undone\. Process 1: /);
      expect(after.status_reason).toContain("no queue bad");
      expect(pids(after).slice(1)).toEqual(pids(before).slice(1));
      expect(pids(after)[0]).not.toBe(pids(before)[0]);
      const [undone, asked] = await newest(before.id);
      expect(asked).toMatchObject({ action: "changed", actor: "token" });
      expect(undone).toMatchObject({
        action: "change undone",
        actor: "supervisor",
        detail: expect.stringContaining("queue bad → default, memory 512 → 128, processes 4 → 3"),
      });
      // The worker can be changed again.
      await change(before.id, { queue: "high" });
      expect(await settled(before.id, "installed")).toMatchObject({ queue: "high" });
    });

    test("of the number of processes removes only the new ones", async () => {
      await artisan(`${readNumber}; [ $number = 2 ] && exit 1; ${works}`);
      const before = await create();
      await change(before.id, { processes: 3 });
      const after = await settled(before.id, "installed");
      expect(after).toMatchObject({ processes: 1 });
      expect(pids(after)).toEqual(pids(before));
      expect(after.status_reason).toContain("Process 2");
    });

    inLongForm(() => {
      test("to a directory that disappears meanwhile is reverted as well", async () => {
        await mkdir(join(service.folder, "shop/release"));
        await writeFile(join(service.folder, "shop/release/artisan"), "exit 1");
        const { id, directory } = await create();
        await change(id, { directory: "release" });
        expect(await settled(id, "installed")).toMatchObject({ directory });
      });
    });
  });

  describe("during a change", () => {
    /** Ends only once the test has removed a file, so that the change stays under way. */
    const slow = endsWhenAsked("while [ -e wait ]; do sleep 0.05; done;");
    const begin = async (processes = 2) => {
      await artisan(`${note}; ${slow}`);
      const { id } = await create({ processes, stopwaitsecs: 50 });
      await writeFile(join(service.folder, "shop/wait"), "");
      expect((await change(id, { queue: "high" })).status).toBe(200);
      return id;
    };
    const goOn = () => rm(join(service.folder, "shop/wait"));

    test("a stop stops the worker, and the change applies from the next start on", async () => {
      const id = await begin();
      expect((await service.call("DELETE", `/api/worker/${id}/stop`)).status).toBe(204);
      // The response does not wait for the order. A process that ended before the order would be started again.
      await soon(async () => {
        const { process_list: list = [] } = await show(id);
        expect(list.map(({ state }) => state)).toEqual(["STOPPING", "STOPPING"]);
      });
      await goOn();
      expect(await settled(id, "stopped")).toMatchObject({ queue: "high" });
      await service.call("POST", `/api/worker/${id}/start`);
      await settled(id, "installed");
      await soon(() => expect(startsWithNew(2).sort()).toEqual(["1 high", "2 high"]));
    });

    test("a second change and a restart are refused, and a start does nothing", async () => {
      const id = await begin();
      expect((await change(id, { memory: 64 })).status).toBe(409);
      expect((await service.call("PUT", `/api/worker/${id}/restart`)).status).toBe(409);
      expect((await service.call("POST", `/api/worker/${id}/start`)).status).toBe(204);
      await goOn();
      expect(await settled(id, "installed")).toMatchObject({ queue: "high", memory: 128 });
      await soon(() => expect(startsWithNew(2)).toEqual(["1 high", "2 high"]));
    });

    inLongForm(() => {
      test("a deletion deletes the worker", async () => {
        const id = await begin();
        expect((await service.call("DELETE", `/api/worker/${id}`)).status).toBe(204);
        await goOn();
        await soon(async () =>
          expect((await service.call("GET", `/api/worker/${id}`)).status).toBe(404),
        );
      });
    });

    test("a deployment reaches every process, and the change as well", async () => {
      const id = await begin();
      const report = { status: "finished", restart_workers: true };
      const deployed = await service.json<{ id: number }>("POST", "/api/site/1/deployment", report);
      await goOn();
      const { process_list: list = [] } = await settled(id, "installed");
      expect(list.map((process) => process.deployment_id)).toEqual(
        list.map(() => deployed.body.id),
      );
      // A process that the change has not reached may be restarted for the deployment first.
      await soon(() => {
        const last = new Map(starts().map((line): [string, string] => [line.slice(0, 1), line]));
        expect([...last.values()].sort()).toEqual(["1 high", "2 high"]);
      });
    });
  });

  describe("a change of a stopped worker", () => {
    test("is stored, and applies from its next start on", async () => {
      const { id } = await create();
      await service.call("DELETE", `/api/worker/${id}/stop`);
      await settled(id, "stopped");
      const { body } = await change(id, { queue: "high", processes: 2 });
      expect(body).toMatchObject({ status: "stopped", is_changing: false, queue: "high" });
      await service.call("POST", `/api/worker/${id}/start`);
      await settled(id, "installed");
      await soon(() => expect(startsWithNew(1).sort()).toEqual(["1 high", "2 high"]));
    });

    inLongForm(() => {
      test("is stored if it has failed, and starts nothing", async () => {
        await artisan(failsIfBad);
        const body = { ...workerBody, startsecs: 1, startretries: 0, queue: "bad" };
        const { id } = (await service.json<Worker>("POST", "/api/site/1/worker", body)).body;
        await settled(id, "failed");
        expect((await change(id, { queue: "good" })).body).toMatchObject({ status: "failed" });
        await service.call("POST", `/api/worker/${id}/start`);
        await settled(id, "installed");
        await soon(() => expect(starts()).toEqual(["1 good"]));
      });
    });
  });

  describe("a change is refused", () => {
    test("while the worker is installing", async () => {
      const body = { ...workerBody, startsecs: 60 };
      const { id } = (await service.json<Worker>("POST", "/api/site/1/worker", body)).body;
      expect(await change(id, { memory: 64 })).toMatchObject({
        status: 409,
        body: { message: "The worker is installing. Try again once that is done." },
      });
    });

    test("with all of its errors, and stores nothing", async () => {
      const { id } = await create();
      const wrong = { queue: "a b", memory: 1, directory: "../.." };
      const { status, body } = await service.json<{ errors: Record<string, string[]> }>(
        "PUT",
        `/api/worker/${id}`,
        wrong,
      );
      expect(status).toBe(422);
      expect(Object.keys(body.errors)).toEqual(["queue", "memory", "directory"]);
      expect(await show(id)).toMatchObject({ queue: "default", memory: 128, status: "installed" });
    });
  });
});
