// Three instances on one PostgreSQL, with random faults: each schedule runs once, each event is delivered, no worker runs twice,
// and servers soon have an instance again.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Worker } from "../../contract/workers/worker.ts";
import type { Page } from "../../contract/paging.ts";
import type { Site } from "../../contract/servers.ts";
import { hasPostgresServer } from "../backups/testing/postgres-server.ts";
import { storedFilesIn } from "../storage/testing/stored-files.ts";
import { inLongForm } from "../testing/long-form.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { isAlive } from "../testing/signals.ts";
import { startReceiver, type TestReceiver } from "../webhooks/testing/receiver.ts";
import type { Noted } from "./testing/audit.ts";
import { groups, planFaults } from "./testing/fault-plan.ts";
import { createFaultRig, type FaultRig } from "./testing/fault-rig.ts";
import { createLoad, type Load } from "./testing/load.ts";
import { createStriker } from "./testing/strike.ts";
import { soon } from "../testing/soon.ts";

/** Only for `npm run soak -- instances`: in `npm test`, `several.test.ts` kills, hangs and stops instances. */
const many = Number(process.env["INSTANCE_FAULTS"] ?? 100);
const seed = makeSeed();
const again = `LONG_FORM=true INSTANCE_FAULTS=${many} CRASH_SEED=${seed} npx vitest run server/instances/faults.test.ts`;

const servers = [1, 2, 3];
/** One site for each server over SSH, and that of the first instance's own machine. */
const sites = [...servers, 100];
const takeoverLimitMs = 30_000;

let rig: FaultRig;
let receiver: TestReceiver;

const twice = () => readFile(join(rig.several.folder, "twice"), "utf8").catch(() => "");

async function expectWorkers(): Promise<void> {
  for (const { service } of rig.instances)
    for (const site of sites) {
      const answer = await service.call("GET", `/api/site/${site}/workers`);
      const { data }: Page<Worker> = await answer.json();
      expect(data, `site ${site}`).toMatchObject([{ status: "installed" }]);
      const pids = data.flatMap(({ process_list: list = [] }) =>
        list.flatMap(({ pid }) => pid ?? []),
      );
      expect(pids.filter(isAlive), JSON.stringify(data)).toHaveLength(1);
    }
}

/** Events that no receiver got. */
async function undelivered(): Promise<object[]> {
  const arrived = new Set(receiver.arrivals.map(({ headers }) => headers["webhook-id"]));
  const events = await rig.ask<{ message_id: string; type: string; site_id: number | null }>(
    "select id, message_id, type, site_id, dispatched_at from events order by id",
  );
  return events.filter(({ message_id: id }) => !arrived.has(id));
}

const storedFiles = () => storedFilesIn(join(rig.several.folder, "backups"));

const expectShared = async () => {
  const owners = await rig.several.owners();
  const holders = new Set(servers.map((id) => owners.get(id)));
  expect(holders).toEqual(new Set(rig.instances.map(({ name }) => name)));
};

/** Each due time has one run, and each run has ended. */
const expectRuns = async ({ look, dues }: Load) => {
  for (const { id, runs, unsettled } of await look())
    expect({ id, runs, unsettled }).toEqual({ id, runs: dues.get(id), unsettled: 0 });
};

async function expectStorage(): Promise<void> {
  const finished = await rig.ask<{ path: string }>(
    "select path from backups where status = 'finished'",
  );
  expect(await storedFiles()).toEqual(finished.map(({ path }) => path).sort());
}

/**
 * Writes about a server by an instance that does not look after it. Excluded: any instance creates configurations for requests; a
 * run belongs to the claim of its job, which may outlast a lease; updates that change nothing are harmless; and any instance
 * stores the schedules' time zones when it looks for missed runs.
 */
const writesOfOthers = () =>
  rig.ask<Noted>(
    `select * from audit where who = any($1) and holder <> who and changed - '{schedule_zone,schedule_since}'::text[] <> '{}'
       and what not like 'INSERT backup_configurations %' and what not like 'UPDATE backups %' order by id`,
    [rig.instances.map(({ name }) => name)],
  );

/**
 * Runs whose row changed after they had ended, except for their removal, and for the warning that the recovery page could not be
 * written, which no run waits for.
 */
const changedAfterwards = () =>
  rig.ask(
    `select later.* from audit ended join audit later on later.what = ended.what and later.id > ended.id
     where ended.what like 'UPDATE backups %' and ended.changed ->> 'status' in ('finished', 'failed')
       and later.changed - 'warnings' <> '{}'`,
  );

test("a plan contains each kind of fault before one repeats, and is reproducible from its seed", () => {
  const plan = planFaults(seed, groups.flat().length);
  expect(new Set(plan.map(({ kind }) => kind))).toEqual(new Set(groups.flat()));
  expect(planFaults(seed, plan.length)).toEqual(plan);
});

inLongForm(() => {
  describe.skipIf(!hasPostgresServer)("three instances", () => {
    beforeAll(async () => {
      receiver = await startReceiver();
      rig = await createFaultRig(servers.length);
      const { folder } = rig.several;
      // A second process of the same worker reports itself.
      for (const site of sites)
        await writeFile(
          join(folder, `site-${site}/artisan`),
          `exec 9>>${folder}/alive-${site}
flock --nonblock 9 || echo "$$ of site ${site}" >>${folder}/twice
trap 'kill -KILL $! 2>/dev/null; exit 0' TERM
while :; do sleep 86400 9>&- & wait $!; done
`,
        );
    }, 300_000);
    afterAll(async () => {
      await rig?.close();
      await receiver?.close();
    });

    test(
      `over ${many} faults every schedule runs once, every event is delivered and no worker runs twice (CRASH_SEED=${seed})`,
      { timeout: 300_000 + many * 30_000 },
      async ({ onTestFailed }) => {
        const startedMs = performance.now();
        const seconds = () => Math.round((performance.now() - startedMs) / 1000);
        const faults: string[] = [];
        onTestFailed(async () => {
          const audit = await rig.ask("select * from audit order by id").catch(() => []);
          const lines = [
            "What was written:",
            ...audit.map((row) => JSON.stringify(row)),
            "The instances said:",
            rig.output(),
            "The faults were:",
            ...faults,
            `This plays them again: ${again}`,
          ];
          process.stderr.write(`${lines.join("\n")}\n`);
        });
        await soon(expectShared, 120_000);
        // The sites' accounts must be known before anything is created for them.
        await soon(async () => {
          for (const { service } of rig.instances)
            for (const id of sites) {
              const answer = await service.call("GET", `/api/site/${id}`);
              const site: Site = await answer.json();
              expect(site.account, site.account_problem ?? "").toEqual(expect.any(String));
            }
        }, 120_000);
        const load = await createLoad(rig, {
          sites,
          url: receiver.url,
          random: makeRandom(seed + 1),
        });
        await soon(
          async () => expect(await load.look()).toHaveLength(load.configurations),
          120_000,
        );
        await soon(expectWorkers, 120_000);

        const { strike, takeovers } = createStriker(rig);
        const begun: Promise<void>[] = [];
        for (const [index, fault] of planFaults(seed, many).entries()) {
          const { target, isOver } = await strike(fault);
          faults.push(`${seconds()} s: ${index}, ${fault.kind} ${target}`);
          begun.push(isOver);
          // Awaited below.
          isOver.catch(() => undefined);
        }
        await Promise.all(begun);
        await load.stop();

        await soon(() => expectRuns(load), 120_000);
        await soon(expectStorage, 120_000);
        await soon(expectWorkers, 120_000);
        expect(await twice()).toBe("");
        await soon(async () => expect(await undelivered()).toEqual([]), 120_000);
        expect(takeovers.filter(({ tookMs }) => tookMs > takeoverLimitMs)).toEqual([]);
        expect(await rig.ask("select * from lease_theft")).toEqual([]);
        expect(await writesOfOthers()).toEqual([]);
        expect(await changedAfterwards()).toEqual([]);
        expect(rig.exits).toEqual([]);
        process.stderr.write(
          `${JSON.stringify({
            faults: countBy(planFaults(seed, many), ({ kind }) => kind),
            takeovers: takeovers.length,
            longestTakeoverMs: Math.round(Math.max(...takeovers.map(({ tookMs }) => tookMs))),
            runs: [...load.dues.values()].reduce((sum, due) => sum + due, 0),
            failed: await rig.ask(
              "select changed ->> 'status_reason' as reason, count(*)::int from audit where what like 'UPDATE backups %' and changed ->> 'status' = 'failed' group by 1",
            ),
            deployments: load.deployments(),
            events: (await rig.ask("select from events")).length,
            requests: receiver.arrivals.length,
            seconds: seconds(),
          })}\n`,
        );
      },
    );
  });
});

const countBy = <Item>(items: readonly Item[], keyOf: (item: Item) => string) =>
  Object.fromEntries([...Map.groupBy(items, keyOf)].map(([key, its]) => [key, its.length]));
