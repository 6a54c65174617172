// The rules of workers: what may be asked for when, and how an order becomes a state and a state an outcome.
import type { Logger } from "pino";
import { workerArguments } from "../../contract/workers/command.ts";
import {
  canWorker,
  withWorkerDefaults,
  type CreateWorkerBody,
  type WorkerAction,
  type WorkerState,
} from "../../contract/workers/worker.ts";
import type { PageRequest } from "../../contract/paging.ts";
import type { Clock } from "../clock.ts";
import type { Host } from "../hosts/host.ts";
import { recordActivity } from "../activity/store.ts";
import { recordEvent } from "../events/store.ts";
import { conflict, InvalidFields, ServiceError } from "../http/service-error.ts";
import type { InventoryStore, SiteRow } from "../inventory/store.ts";
import type { JobData, Jobs } from "../jobs/jobs.ts";
import type { Connection } from "../store/database.ts";
import { isCrashLoop } from "./crash-loop.ts";
import { deadlineSeconds } from "./deadlines.ts";
import { askedEntry, settledEntry, workerEvent } from "./event-data.ts";
import { outcomeOf } from "./outcome.ts";
import type { LogPosition, Runner } from "./runner.ts";
import type { WorkerRow, WorkerStore } from "./store.ts";

export type WorkerServiceOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  runner: Runner;
  jobs: Jobs;
  host: Host;
  clock: Clock;
  log: Logger;
};

/** Which state an action leads into, and the states in which it has nothing to do. */
const actions = {
  start: {
    into: "starting",
    done: ["installed", "starting", "restarting"],
    asked: "asked to start",
  },
  stop: { into: "stopping", done: ["stopped", "stopping"], asked: "asked to stop" },
  restart: { into: "restarting", done: [], asked: "asked to restart" },
  remove: { into: "removing", done: [], asked: "deleted" },
} as const satisfies Record<
  WorkerAction,
  { into: WorkerState; done: readonly WorkerState[]; asked: string }
>;

/** Lines of the log that tell why a worker failed, and the most characters of them. */
const reasonLines = 5;
const reasonCharacters = 800;

export function createWorkerService(options: WorkerServiceOptions) {
  const { store, inventory, runner, jobs, host, log } = options;

  /** Moves a row on; a state in transit gets its deadline in the same breath, and what is news is stored with it. */
  async function move(
    tx: Connection,
    from: WorkerRow,
    status: WorkerState,
    reason: string | null,
  ): Promise<WorkerRow | null> {
    const isNewFailure = status === "failed" && !from.told_failed;
    const isRecovery = status === "installed" && from.told_failed;
    const row = await store.move(
      tx,
      from,
      status,
      reason,
      isRecovery ? false : isNewFailure || from.told_failed,
    );
    if (row === null) return null;
    await setDeadline(tx, row);
    const site = await inventory.findSite(row.site_id);
    if (site === null) return row;
    if (isNewFailure) await recordEvent(tx, workerEvent("worker.failed", row, site, reason));
    if (isRecovery) await recordEvent(tx, workerEvent("worker.recovered", row, site, null));
    const settled = settledEntry(row, site, from.status);
    if (settled !== null && !isRecovery) await recordActivity(tx, settled);
    return row;
  }

  async function setDeadline(tx: Connection, row: WorkerRow): Promise<void> {
    const seconds = deadlineSeconds(row.status, row);
    if (seconds !== null) await jobs.send(tx, "worker.deadline", ticket(row), seconds);
  }

  async function act(id: number, action: WorkerAction): Promise<void> {
    const { into, done, asked } = actions[action];
    await store.transaction(async (tx) => {
      const row = await store.lock(tx, id);
      // Somebody else was faster with deleting it: what was asked for can no longer be done.
      if (row === null) throw conflict("The worker is gone.");
      if (!canWorker[action](row))
        throw conflict(`The worker is ${row.status}; this can be done once that is over.`);
      if ((done as readonly WorkerState[]).includes(row.status)) return;
      const moved = await move(tx, row, into, null);
      if (moved === null) return;
      await jobs.send(tx, "worker.apply", ticket(moved));
      const site = await inventory.findSite(row.site_id);
      if (site !== null) await recordActivity(tx, askedEntry(moved, site, asked));
    });
  }

  /** What the supervisor needs to know of a worker. */
  async function program(row: WorkerRow) {
    const site = await inventory.findSite(row.site_id);
    return {
      id: row.id,
      args: workerArguments(site?.artisan ?? [], row),
      directory: row.directory,
      processes: row.processes,
      startsecs: row.startsecs,
      startretries: row.startretries,
      stopwaitsecs: row.stopwaitsecs,
      stopsignal: row.stopsignal,
    };
  }

  async function withLog(id: number, reason: string): Promise<string> {
    const { text } = await runner.readLog(id, { lines: reasonLines });
    const tail = text.trim().slice(-reasonCharacters);
    return tail === "" ? reason : `${reason}\nLast lines of the log:\n${tail}`;
  }

  /** Goes on by itself: a stop may take minutes, and the jobs behind this one are not to wait for it. */
  function beginRemoval(id: number): void {
    runner
      .remove(id)
      .then(() => store.remove(id))
      // Its deadline turns the worker to failed, and it can be deleted again.
      .catch((error: unknown) => log.error({ err: error, worker: id }, "a worker was not removed"));
  }

  return {
    list: (siteId: number, page: PageRequest) => store.list(siteId, page),
    withServer: (id: number) => store.withServer(id),
    processes: (id: number) => runner.list(id),
    readLog: (id: number, position: LogPosition) => runner.readLog(id, position),
    start: (id: number) => act(id, "start"),
    stop: (id: number) => act(id, "stop"),
    restart: (id: number) => act(id, "restart"),
    remove: (id: number) => act(id, "remove"),

    /** @throws InvalidFields when the directory is not one of the site */
    async create(site: SiteRow, body: CreateWorkerBody): Promise<WorkerRow> {
      const { directory: wanted, ...settings } = withWorkerDefaults(body);
      const directory =
        wanted === undefined ? site.root : await host.folderInside(site.root, wanted);
      if (typeof directory !== "string")
        throw new InvalidFields({ directory: [`The directory field ${directory.problem}.`] });
      return store.transaction(async (tx) => {
        const row = await store.insert(tx, { ...settings, directory, site_id: site.id });
        await jobs.send(tx, "worker.apply", ticket(row));
        await setDeadline(tx, row);
        await recordActivity(tx, askedEntry(row, site, "created"));
        return row;
      });
    },

    /**
     * Restarts what runs of a site; each process ends its job first, as with `queue:restart`.
     * @returns how many workers there are
     */
    async restartAll(siteId: number): Promise<number> {
      const rows = (await store.ofSite(siteId)).filter(({ status }) => status === "installed");
      let restarted = 0;
      for (const { id } of rows)
        try {
          await act(id, "restart");
          restarted += 1;
        } catch (error) {
          // It was stopped or deleted in this moment, and somebody else's wish is the newer one.
          if (!(error instanceof ServiceError)) throw error;
        }
      return restarted;
    },

    /** The state of every process that is kept up here. */
    processStates: () => runner.known().flatMap((id) => runner.list(id).map(({ state }) => state)),

    /** Workers whose processes come up again and again. */
    crashLoops: (): number[] =>
      runner.known().filter((id) => isCrashLoop(runner.list(id), options.clock.now())),

    /** Carries out what a request decided, unless something newer was decided since. */
    async apply({ id, transition }: JobData["worker.apply"]): Promise<void> {
      const row = await store.byId(id);
      if (row === null || row.transition !== transition) return;
      const order = { program: await program(row), transition };
      switch (row.status) {
        case "installing":
        case "starting":
          return runner.start(order);
        case "restarting":
          return runner.restart(order);
        case "stopping":
          return runner.stop(order);
        case "removing":
          return beginRemoval(id);
        case "installed":
        case "stopped":
        case "failed":
      }
    },

    /** Looks at a worker's processes and moves its status to what they show. */
    async observe(id: number): Promise<void> {
      const row = await store.byId(id);
      const seen = runner.seen(id);
      if (row === null || seen === null || seen.transition !== row.transition) return;
      const outcome = outcomeOf(row.status, seen.processes);
      if (outcome === null) return;
      const reason =
        outcome.status === "failed" && outcome.reason !== null
          ? await withLog(id, outcome.reason)
          : outcome.reason;
      const moved = await store.transaction((tx) => move(tx, row, outcome.status, reason));
      if (moved !== null) runner.follow(id, moved.transition);
    },

    /** Ends a state in transit that lasted too long. */
    async expire({ id, transition }: JobData["worker.deadline"]): Promise<void> {
      const row = await store.byId(id);
      if (row === null || row.transition !== transition) return;
      const seconds = deadlineSeconds(row.status, row);
      if (seconds === null) return;
      const reason = await withLog(id, `It was ${row.status} for more than ${seconds} seconds.`);
      const moved = await store.transaction((tx) => move(tx, row, "failed", reason));
      if (moved !== null) runner.follow(id, moved.transition);
    },

    /** After a start of the service: takes over what runs, and goes on with what was cut off. */
    async resume(): Promise<void> {
      const rows = await store.notStopped();
      await runner.resume(
        await Promise.all(
          rows
            .filter(({ status }) => status !== "removing")
            .map(async (row) => ({
              program: await program(row),
              transition: row.transition,
              up: row.status !== "stopping",
            })),
        ),
      );
      for (const { id, status } of rows)
        if (status === "removing") beginRemoval(id);
        else await this.observe(id);
    },
  };
}

export type WorkerService = ReturnType<typeof createWorkerService>;

const ticket = ({ id, transition }: WorkerRow) => ({ id, transition });
