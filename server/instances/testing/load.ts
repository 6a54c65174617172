// The work of three instances during faults: schedules that come due, and deployments, which restart workers.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { workerBody } from "../../testing/worker-body.ts";
import type { FaultRig } from "./fault-rig.ts";
import { soon } from "../../testing/soon.ts";

/** A schedule that is never due by itself during the test, which sets all due times. */
const schedule = { frequency: "0 3 1 1 *", storage_provider_id: 1, hold: 8760 };
const everyMs = 500;

type Runs = { id: number; next_run_at: Date; runs: number; unsettled: number };

/** @param sites each with a worker, a webhook to `url` and a backup configuration */
export async function createLoad(
  rig: FaultRig,
  { sites, url, random }: { sites: readonly number[]; url: string; random: () => number },
) {
  const { instances, ask } = rig;
  const [first] = instances;
  /** Creates an object. Retried, because the server's instance may only just have taken it. */
  const make = (path: string, body: object) =>
    soon(async () => {
      const answer = await first?.service.call("POST", path, body);
      expect(`${answer?.status} ${answer?.ok === true ? "" : await answer?.text()}`).toBe("201 ");
    });
  for (const site of sites) {
    // supervisord loses the stop signal of a process that it has forked, but that has not started its program yet.
    await make(`/api/site/${site}/worker`, { ...workerBody, stopwaitsecs: 5 });
    await make(`/api/site/${site}/webhook`, { url });
    for (const name of ["one", "other"])
      await make(`/api/server/${site}/backup-configuration`, {
        ...schedule,
        name: `${name} of ${site}`,
        backupable_type: "site",
        backupable_id: site,
      });
  }

  /** How often each configuration came due, by its id. */
  const dues = new Map<number, number>();
  const configurations = 2 * sites.length;
  let deployments = 0;
  const over = new AbortController();

  // Counts runs in the audit, because a failed run is removed when newer ones have finished.
  const look = () =>
    ask<Runs>(`
      select configuration.id, next_run_at,
        (select count(*) from audit where what like 'INSERT backups %' and changed ->> 'trigger' = 'schedule'
          and (changed ->> 'configuration_id')::int = configuration.id)::int as runs,
        (select count(*) from backups where configuration_id = configuration.id and status in ('pending', 'running'))::int as unsettled
      from backup_configurations configuration where next_run_at is not null order by configuration.id`);

  async function makeDue({ id, next_run_at: next, runs, unsettled }: Runs): Promise<void> {
    const due = dues.get(id) ?? 0;
    if (runs > due) throw new Error(`Configuration ${id} was due ${due} times and ran ${runs}.`);
    if (over.signal.aborted || runs < due || unsettled > 0 || random() > 0.3) return;
    dues.set(id, due + 1);
    await ask(
      `update backup_configurations set next_run_at = now() + make_interval(secs => $1) where id = $2 and next_run_at = $3`,
      [random() * 4, id, next],
    );
  }

  async function keepDue(): Promise<void> {
    while (!over.signal.aborted) {
      for (const one of await look()) await makeDue(one);
      await wait(everyMs);
    }
  }

  async function keepDeploying(): Promise<void> {
    while (!over.signal.aborted) {
      const able = instances.filter(({ isHit }) => !isHit);
      const through = able[Math.floor(random() * able.length)];
      const site = sites[Math.floor(random() * sites.length)] ?? 0;
      const answer = await through?.service
        .call("POST", `/api/site/${site}/deployment`, { status: "finished", restart_workers: true })
        .catch(() => null);
      if (answer?.status === 202) deployments += 1;
      await answer?.body?.cancel();
      await wait(1000 + random() * 3000);
    }
  }

  const keeping = Promise.all([keepDue(), keepDeploying()]);
  // Awaited in `stop`.
  keeping.catch(() => undefined);
  return {
    configurations,
    dues,
    look,
    /** @returns number of accepted deployments */
    deployments: () => deployments,
    /** Stops the load. @throws the error that stopped it earlier */
    async stop(): Promise<void> {
      over.abort();
      await keeping;
    },
  };
}

export type Load = Awaited<ReturnType<typeof createLoad>>;
