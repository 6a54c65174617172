// Changes the settings of a worker. Running processes are replaced one after the other; if one does not start, the old settings
// are restored. The row stores both settings, so that the next start of the service resumes an interrupted change.
import { canWorker, type WorkerState } from "../../../contract/workers/worker.ts";
import { createWorkerBody, type UpdateWorkerBody } from "../../../contract/workers/bodies.ts";
import { theSupervisor } from "../../activity/actor.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { conflict } from "../../http/service-error.ts";
import type { InventoryStore, SiteRow } from "../../inventory/store.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { VersionedSettings } from "../../store/tables/workers.ts";
import { deadlineAt } from "../deadlines/deadlines.ts";
import { jobReference } from "../job-reference.ts";
import type { GiveOrder } from "../deployment/deployer.ts";
import { askedEntry } from "../event-data.ts";
import type { Mover } from "../status/mover.ts";
import type { SeenProcess } from "../status/outcome.ts";
import type { ProcessManager } from "../processes/process-manager.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";
import { accountOf, programOf } from "../processes/worker-program.ts";

type ChangerOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  manager: ProcessManager;
  jobs: Pick<Jobs, "send">;
  mover: Mover;
  /** Gives an order; see the service. */
  order: GiveOrder;
  /** Returns the last known status before an order that is given now. */
  lastStatusOf(row: WorkerRow): WorkerState;
  clock: Clock;
};

type ChangedProcess = Pick<SeenProcess, "number" | "state" | "reason" | "settings">;

const runs = new Set(["STARTING", "RUNNING", "BACKOFF", "EXITED"]);

/** Returns a process because of which a change has to be undone; undefined = none so far. */
export function brokenBy<Process extends ChangedProcess>(
  { changed_from: from, settings_version: version }: WorkerRow,
  processes: readonly Process[],
): Process | undefined {
  return from === null
    ? undefined
    : processes.find(
        ({ number, state, settings }) =>
          (state === "BACKOFF" || state === "FATAL") &&
          settings === version &&
          // If only the number of processes grows, only additional ones count.
          (from.version !== version || number > from.settings.processes),
      );
}

/** Whether a process is still to be replaced, started or ended for the settings that the row has. */
export const isUnsettled = (
  { processes: asked, settings_version: version }: WorkerRow,
  processes: readonly ChangedProcess[],
): boolean =>
  processes.length < asked ||
  processes.some(({ number, settings }) => number > asked || settings !== version);

export function createChanger(options: ChangerOptions) {
  const { store, inventory, manager, jobs, mover, order, lastStatusOf, clock } = options;

  /** Whether processes run that have to be replaced; a stopped worker gets the settings when it is started. */
  function isRunning({ id, status }: WorkerRow): boolean {
    return status === "failed"
      ? manager.processes(id).some(({ state }) => runs.has(state))
      : status !== "stopped";
  }

  return {
    /** Changes the given settings. @throws a conflict */
    update: (id: number, site: SiteRow, body: UpdateWorkerBody): Promise<WorkerRow> =>
      store.transaction(async (tx) => {
        const row = await store.lock(tx, id);
        if (row === null) throw conflict("The worker no longer exists.");
        if (row.changed_from !== null)
          throw conflict("The worker is being changed already. Try again once that is done.");
        if (!canWorker.update(row))
          throw conflict(`The worker is ${row.status}. Try again once that is done.`);
        const account = accountOf(site);
        if ("problem" in account) throw conflict(account.problem);
        const names = changedNames(row, body);
        if (names.length === 0) return row;
        const before = settingsOf(row);
        const after = withChanges(before, body);
        const isRollout = isRunning(row);
        const from = { version: row.settings_version, settings: before };
        const changed = await store.change(tx, row, {
          settings: after,
          // If only the number of processes changes, the version stays, so that no process is replaced.
          version: isScaling(names) ? row.settings_version : row.transition + 1,
          changedFrom: isRollout ? from : null,
          status: isRollout ? "restarting" : row.status,
          reason: isRollout ? null : row.status_reason,
          lastStatus: isRollout ? lastStatusOf(row) : null,
          countFrom: isRollout && !isScaling(names) ? new Date(clock.now()) : null,
          deadlineAt: isRollout
            ? deadlineAt("restarting", { ...after, changed_from: from }, clock.now())
            : null,
        });
        if (changed === null)
          throw conflict("The worker was changed by somebody else just now. Try again.");
        await jobs.send(tx, "worker.apply", jobReference(changed, site));
        const entry = askedEntry(changed, site, "changed");
        await recordActivity(tx, { ...entry, detail: changeText(before, after) });
        return changed;
      }),

    /**
     * Restores the old settings.
     * @param why a sentence
     * @returns the new row; null if it was changed since it was read
     */
    async undo(row: WorkerRow, why: string): Promise<WorkerRow | null> {
      const { changed_from: from } = row;
      if (from === null) return null;
      const reason = await mover.withLog(row.id, `The change was undone. ${why}`);
      const undone = await store.transaction(async (tx) => {
        const changed = await store.change(tx, row, {
          settings: from.settings,
          version: from.version,
          changedFrom: null,
          status: "restarting",
          reason,
          lastStatus: null,
          countFrom: null,
          deadlineAt: deadlineAt("restarting", from.settings, clock.now()),
        });
        const site = changed && (await inventory.findSite(row.site_id, tx));
        if (changed === null || site === null) return changed;
        const entry = askedEntry(changed, site, "change undone");
        const detail = `${changeText(settingsOf(row), from.settings)}\n${reason}`;
        await recordActivity(tx, { ...entry, outcome: "bad", detail, actor: theSupervisor });
        return changed;
      });
      if (undone === null) return null;
      const program = programOf(undone, await inventory.findSite(undone.site_id));
      order(undone.id, undone.transition, () => manager.undo(program));
      return undone;
    },
  };
}

type StoredSettings = VersionedSettings["settings"];

/** Names of the settings, in the order of the interface. Each is a column of the same name. */
const settingNames = Object.keys(createWorkerBody.shape) as (keyof StoredSettings)[]; // The keys of a shape are the names of its fields.

const settingsOf = (row: StoredSettings): StoredSettings =>
  // The object has every setting, which the type of `fromEntries` does not express.
  Object.fromEntries(settingNames.map((name) => [name, row[name]])) as StoredSettings;

/** Returns the fields whose value a request changes. */
const changedNames = (row: StoredSettings, body: UpdateWorkerBody) =>
  settingNames.filter((name) => body[name] !== undefined && body[name] !== row[name]);

const withChanges = (before: StoredSettings, body: UpdateWorkerBody): StoredSettings => ({
  ...before,
  // Fields that are absent from the JSON are not properties of the body, so none of them is undefined.
  ...(body as Partial<StoredSettings>),
});

const valueText = (value: StoredSettings[keyof StoredSettings]): string =>
  value === null ? "the site's folder" : String(value);

/** "queue default → high, max jobs 0 → 100" */
const changeText = (before: StoredSettings, after: StoredSettings): string =>
  settingNames
    .filter((name) => before[name] !== after[name])
    .map(
      (name) =>
        `${name.replaceAll("_", " ")} ${valueText(before[name])} → ${valueText(after[name])}`,
    )
    .join(", ");

/** Whether only the number of processes changes. */
const isScaling = (changed: readonly string[]): boolean =>
  changed.every((name) => name === "processes");
