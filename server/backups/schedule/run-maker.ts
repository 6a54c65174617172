// Creates runs and their tasks: for one request, or for many due schedules at once.
import { canBackupConfiguration, type BackupTrigger } from "../../../contract/backups/backup.ts";
import { theSchedule, type Actor } from "../../activity/actor.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { conflict } from "../../http/service-error.ts";
import type { Leases } from "../../instances/leases.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { Connection } from "../../store/database.ts";
import { createAddTasks } from "../tasks/add-tasks.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import type { CopyQueue } from "../copies/copy-queue.ts";
import { backupEntry } from "../event-data.ts";
import type { Moment, ScheduleStore } from "./schedule-store.ts";
import type { TaskStore } from "../tasks/task-store.ts";

type RunMakerOptions = {
  store: BackupStore;
  configurations: ConfigurationStore;
  scheduleStore: Pick<ScheduleStore, "takeMoments">;
  tasks: TaskStore;
  jobs: Jobs;
  leases: Pick<Leases, "holdThose">;
  copyQueue: Pick<CopyQueue, "addMissing">;
  clock: Clock;
};

export function createRunMaker(options: RunMakerOptions) {
  const { store, configurations, scheduleStore, tasks, leases, copyQueue, clock } = options;
  const { addTasks } = createAddTasks(options);

  /**
   * Stores runs, their tasks, and who requested them.
   * @returns the ids of the runs
   */
  async function beginRuns(
    tx: Connection,
    all: readonly ConfigurationRow[],
    trigger: BackupTrigger,
    more: { actor?: Actor } = {},
  ): Promise<number[]> {
    if (all.length === 0) return [];
    // A storage that was away may be back, and the new runs may fail, so missing copies are added first.
    await copyQueue.addMissing(tx, all);
    const byId = new Map(all.map((one) => [one.id, one]));
    const rows = await store.insertWaiting(tx, [...byId.keys()], trigger, new Date(clock.now()));
    const begun = rows.flatMap((backup) => {
      const configuration = byId.get(backup.configuration_id);
      return configuration === undefined ? [] : [{ backup, configuration }];
    });
    const added = begun.map(({ backup: { id }, configuration: { server_id } }) => ({
      id,
      server_id,
    }));
    await addTasks(tx, "run", added);
    const entries = begun.map(({ backup, configuration }) =>
      backupEntry(configuration, backup, "asked to run", more),
    );
    await recordActivity(tx, ...entries);
    return rows.map(({ id }) => id);
  }

  return {
    /**
     * Creates a run.
     * @throws ServiceError `conflict` while the configuration cannot run or runs already
     */
    async run(
      configurationId: number,
    ): Promise<{ backup: BackupRow; configuration: ConfigurationRow }> {
      return store.transaction(async (tx) => {
        const configuration = await configurations.lock(tx, configurationId);
        if (configuration === null) throw conflict("The backup configuration no longer exists.");
        if (!canBackupConfiguration.run(configuration))
          throw conflict(`The backup configuration can't run while it is ${configuration.status}.`);
        if ((await tasks.runningOf(tx, [configurationId])).size > 0)
          throw conflict("A run of this configuration is already queued or running.");
        const [id = 0] = await beginRuns(tx, [configuration], "manual");
        const backup = await store.lock(tx, id);
        if (backup === null) throw new Error("A run was not stored.");
        return { backup, configuration };
      });
    },

    /**
     * Makes the runs of moments that have come, each with the schedule's next moment, all in one transaction. A schedule that is in
     * force stays so while a change of it is rehearsed.
     * @returns those whose run before is not over: their moment is skipped, not queued
     */
    runScheduled: (moments: readonly Moment[]): Promise<ConfigurationRow[]> =>
      store.transaction(async (tx) => {
        // Servers that another instance looks after by now are left to that instance, with their schedules.
        const held = await leases.holdThose(tx, [
          ...new Set(moments.map(({ configuration }) => configuration.server_id)),
        ]);
        const taken = await scheduleStore.takeMoments(
          tx,
          moments.filter(({ configuration }) => held.has(configuration.server_id)),
        );
        const ids = taken.map(({ id }) => id);
        const busy = await tasks.runningOf(tx, ids);
        const free = taken.filter(({ id }) => !busy.has(id));
        await beginRuns(tx, free, "schedule", { actor: theSchedule });
        return taken.filter(({ id }) => busy.has(id));
      }),
  };
}
