// The previous version and this one, on one database: an upgrade, one instance after the other; in `npm run soak` also the way
// back.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Page } from "../../contract/paging.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { isLongForm } from "../testing/long-form.ts";
import type { ServiceProcess } from "../testing/service-process.ts";
import { workerBody } from "../testing/worker-body.ts";
import { startReceiver, type TestReceiver } from "../webhooks/testing/receiver.ts";
import { checkOut, findPreviousVersion } from "./testing/previous-version.ts";
import { createSeveral, type Several } from "./testing/several.ts";
import { soon } from "../testing/soon.ts";

const sites = [1, 2];
const previous = await findPreviousVersion();

describe.skipIf(previous === null)("this version and the one before it", () => {
  let several: Several;
  let receiver: TestReceiver;
  let folder: string;
  let program: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "quarterdeck-previous-"));
    program = await checkOut(previous ?? "", join(folder, "previous"));
    receiver = await startReceiver();
    several = await createSeveral(sites.length);
  });
  afterAll(async () => {
    await several?.close();
    await receiver?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Sends requests to the API instances in turn until it is stopped. */
  function createLoad(configurations: readonly number[]) {
    const instances = new Set<ServiceProcess>();
    const refused: string[] = [];
    const deployments: { id: number; site: number; isRestart: boolean }[] = [];
    const backups: number[] = [];
    let rounds = 0;
    const over = new AbortController();
    async function ask(service: ServiceProcess, method: string, path: string, body?: object) {
      try {
        const answer = await service.call(method, path, body);
        const text = await answer.text();
        if (answer.status >= 500) refused.push(`${method} ${path}: ${answer.status} ${text}`);
        return { text, isDone: answer.ok };
      } catch (error) {
        // An instance that is being stopped gets no more requests.
        if (instances.has(service)) refused.push(`${method} ${path}: ${String(error)}`);
        return { text: "", isDone: false };
      }
    }
    const going = (async () => {
      for (let round = 0; !over.signal.aborted; round += 1) {
        rounds = round;
        await wait(500);
        for (const service of instances) {
          const site = sites[round % sites.length] ?? 0;
          for (const path of ["/api/overview", `/api/site/${site}/workers`, "/api/activity"])
            await ask(service, "GET", path);
          // Alternates between both sites.
          const isRestart = round % 8 < sites.length;
          const report = { status: "finished", restart_workers: isRestart };
          const deployed = await ask(service, "POST", `/api/site/${site}/deployment`, report);
          const { id }: { id?: number } = deployed.isDone ? JSON.parse(deployed.text) : {};
          if (id !== undefined) deployments.push({ id, site, isRestart });
          // A run takes as long as many of the other requests.
          if (round % 2 === 1) continue;
          const configuration = configurations[(round / 2) % configurations.length];
          const run = await ask(service, "POST", `/api/backup/${configuration}`);
          const begun: Partial<Backup> = run.isDone ? JSON.parse(run.text) : {};
          if (begun.id !== undefined) backups.push(begun.id);
        }
      }
    })();
    return {
      instances,
      deployments,
      backups,
      /** Returns the requests that failed with 5xx since the last call. */
      refused: () => refused.splice(0),
      /** Waits until some more requests have succeeded. */
      async goOn() {
        const done = [deployments.length, backups.length] as const;
        await soon(() => {
          expect(deployments.length).toBeGreaterThan(done[0] + 2);
          expect(backups.length).toBeGreaterThan(done[1]);
        }, 120_000);
      },
      /** Waits until all earlier requests have a response. */
      async passRound() {
        const done = rounds;
        await soon(() => expect(rounds).toBeGreaterThan(done), 120_000);
      },
      async stop() {
        over.abort();
        await going;
      },
    };
  }

  /** Waits until the named instances look after the servers again, and discards failures in between. */
  async function settle(load: ReturnType<typeof createLoad>, ...names: string[]) {
    await soon(async () => {
      const owners = await several.owners();
      const seen = sites.map((id) => owners.get(id) ?? "nobody");
      expect(seen.toSorted((a, b) => a.localeCompare(b))).toEqual(names);
      for (const service of load.instances)
        for (const site of sites)
          expect((await service.call("GET", `/api/site/${site}/workers`)).status).toBe(200);
    }, 120_000);
    await load.passRound();
    load.refused();
  }

  test("share a database under load, whichever of them stops", { timeout: 400_000 }, async () => {
    const before = await several.start("before", "all", program);
    const make = async <Body>(path: string, body: object): Promise<Body> => {
      const answer = await before.call("POST", path, body);
      expect(answer.status).toBe(201);
      return answer.json();
    };
    const configurations: number[] = [];
    for (const site of sites) {
      // supervisord loses the stop signal of a process that it has forked, but that has not started its program yet.
      await make(`/api/site/${site}/worker`, { ...workerBody, stopwaitsecs: 5 });
      await make(`/api/site/${site}/webhook`, { url: receiver.url });
      const { id } = await make<BackupConfiguration>(`/api/server/${site}/backup-configuration`, {
        name: `Site ${site}`,
        frequency: "0 3 * * *",
        storage_provider_id: 1,
        backupable_type: "site",
        backupable_id: site,
      });
      configurations.push(id);
    }
    const load = createLoad(configurations);
    load.instances.add(before);
    await load.goOn();

    const after = await several.start("after");
    load.instances.add(after);
    await settle(load, "after", "before");
    await load.goOn();
    expect(load.refused().join("\n")).toBe("");

    load.instances.delete(before);
    await before.end("SIGTERM");
    await settle(load, "after", "after");
    await load.goOn();
    expect(load.refused().join("\n")).toBe("");

    const running = [after];
    if (isLongForm) {
      const again = await several.start("before", "all", program);
      running.push(again);
      load.instances.add(again);
      await settle(load, "after", "before");
      await load.goOn();
      expect(load.refused().join("\n")).toBe("");
    }
    await load.stop();

    for (const service of running)
      for (const site of sites) {
        const newest = load.deployments.findLast((one) => one.site === site && one.isRestart);
        await soon(async () => {
          const answer = await service.call("GET", `/api/site/${site}/workers`);
          const { data }: Page<Worker> = await answer.json();
          expect(data).toMatchObject([{ status: "installed" }]);
          expect(data[0]?.deployment_id).toBeGreaterThanOrEqual(newest?.id ?? Infinity);
        }, 120_000);
      }
    await soon(async () => {
      const runs = await several.query<Pick<Backup, "id" | "status" | "status_reason">>(
        "select id, status, status_reason from backups where id = any($1)",
        [load.backups],
      );
      const failed = runs.filter(({ status }) => status === "failed");
      // A run of the instance that stops is interrupted, and its reason says so.
      for (const { status_reason: reason } of failed)
        expect(reason).toMatch(/^Interrupted: the service stopped during the run\./);
      expect(failed.length).toBeLessThan(runs.length);
      for (const run of runs)
        if (!failed.includes(run)) expect(run).toMatchObject({ id: run.id, status: "finished" });
    }, 120_000);
    await soon(async () => {
      const arrived = new Set(receiver.arrivals.map(({ headers }) => headers["webhook-id"]));
      const events = await several.query<{ message_id: string; type: string }>(
        "select message_id, type from events where site_id = any($1)",
        [sites],
      );
      expect(events.length).toBeGreaterThan(0);
      expect(events.filter(({ message_id: id }) => !arrived.has(id))).toEqual([]);
    }, 120_000);
  });
});
