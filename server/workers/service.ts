// The rules of workers: what may be asked for when, and how an order becomes a state and a state an outcome.
import type { Logger } from "pino";
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
import { conflict, InvalidFields } from "../http/service-error.ts";
import type { InventoryStore, SiteRow } from "../inventory/store.ts";
import type { JobData, Jobs } from "../jobs/jobs.ts";
import { createCrashWatch } from "./crash-watch.ts";
import { createDeadlineLoop, deadlineAt, deadlineSeconds, isOverdue } from "./deadlines.ts";
import { createDeployer } from "./deployer.ts";
import { askedEntry } from "./event-data.ts";
import { createKillNotes, type Kill } from "./kills.ts";
import { createMover } from "./mover.ts";
import { isUp, outcomeOf, tell } from "./outcome.ts";
import type { LogPosition, Runner } from "./runner.ts";
import type { WorkerRow, WorkerStore } from "./store.ts";
import { accountOf, programOf } from "./worker-program.ts";

export type WorkerServiceOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  runner: Runner;
  jobs: Pick<Jobs, "send">;
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

export function createWorkerService(options: WorkerServiceOptions) {
  const { store, inventory, runner, jobs, host, clock, log } = options;
  const kills = createKillNotes(store, inventory);
  const mover = createMover(options);
  const { move, fail } = mover;
  const deployer = createDeployer({ ...options, mover });
  const crashWatch = createCrashWatch(options);
  const deadlines = createDeadlineLoop(expireDue, clock, log);

  async function act(id: number, action: WorkerAction): Promise<void> {
    const { into, done, asked } = actions[action];
    await store.transaction(async (tx) => {
      const row = await store.lock(tx, id);
      // Somebody else was faster with deleting it: what was asked for can no longer be done.
      if (row === null) throw conflict("The worker no longer exists.");
      if (!canWorker[action](row))
        throw conflict(`The worker is ${row.status}. Try again once that is done.`);
      if ((done as readonly WorkerState[]).includes(row.status)) return;
      const moved = await move(tx, row, into, null, action === "restart");
      if (moved === null) return;
      await jobs.send(tx, "worker.apply", ticket(moved));
      const site = await inventory.findSite(row.site_id, tx);
      if (site !== null) await recordActivity(tx, askedEntry(moved, site, asked));
    });
  }

  const program = async (row: WorkerRow) => programOf(row, await inventory.findSite(row.site_id));

  /** Goes on by itself: a stop may take minutes, and the jobs behind this one are not to wait for it. */
  function beginRemoval(id: number): void {
    runner
      .remove(id)
      .then(() => kills.record(id))
      .then(() => store.remove(id))
      // Its deadline turns the worker to failed, and it can be deleted again.
      .catch((error: unknown) => log.error({ err: error, worker: id }, "a worker was not removed"));
  }

  /** Ends states in transit that lasted too long. */
  async function expireDue(): Promise<void> {
    for (const row of await store.overdue(clock.now()))
      try {
        await expire(row);
      } catch (error) {
        log.error({ err: error, worker: row.id }, "a worker's deadline is tried again");
      }
  }

  /** A worker whose processes come and go has its whole time again; one that was kept from being up has failed. */
  async function expire(row: WorkerRow): Promise<void> {
    const seconds = deadlineSeconds(row.status, row);
    if (seconds === null || row.deadline_at === null) return;
    const sinceMs = row.deadline_at.getTime() - seconds * 1000;
    const seen = runner.seen(row.id);
    const required = row.required_deployment_id;
    const isToBeUp = row.status !== "stopping" && row.status !== "removing";
    const comesUp =
      isToBeUp &&
      seen?.transition === row.transition &&
      !seen.processes.some((process) => isOverdue(process, required, sinceMs));
    const down = comesUp ? seen.processes.find((process) => !isUp(process, required)) : undefined;
    const moved = comesUp
      ? await store.transaction((tx) => move(tx, row, "restarting", down ? tell(down) : null))
      : await fail(row, `Timed out: still ${row.status} after ${seconds} s.`);
    if (moved !== null) runner.follow(row.id, moved.transition);
    if (comesUp) await observe(row.id);
  }

  /** Looks at a worker's processes and moves its status to what they show. */
  async function observe(id: number): Promise<void> {
    await kills.record(id);
    const row = await store.byId(id);
    const seen = runner.seen(id);
    if (row === null || seen === null || seen.transition !== row.transition) return;
    const outcome = outcomeOf(row.status, seen.processes, row.required_deployment_id);
    if (outcome === null) return;
    const { status } = outcome;
    const reason = outcome.reason ?? row.kill_reason;
    const moved =
      status === "failed" && reason !== null
        ? await fail(row, reason)
        : await store.transaction((tx) => move(tx, row, status, reason));
    if (moved !== null) runner.follow(id, moved.transition);
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
    observe,
    noteDeployment: deployer.note,
    deploy: deployer.carryOut,
    /** Workers in a crash loop. */
    crashLoops: crashWatch.looping,

    /** @throws InvalidFields when the directory is not one of the site */
    async create(site: SiteRow, body: CreateWorkerBody): Promise<WorkerRow> {
      const { directory: wanted, ...settings } = withWorkerDefaults(body);
      const account = accountOf(site);
      if ("problem" in account) throw conflict(account.problem);
      // Only whether it is there: where it leads is found out at each start.
      const found =
        wanted === undefined ? null : await host.as(account).folderInside(site.root, wanted);
      if (found !== null && typeof found !== "string")
        throw new InvalidFields({ directory: [`The directory field ${found.problem}.`] });
      return store.transaction(async (tx) => {
        const row = await store.insert(tx, {
          ...settings,
          directory: wanted ?? null,
          site_id: site.id,
          deadline_at: deadlineAt("installing", settings, clock.now()),
        });
        await jobs.send(tx, "worker.apply", ticket(row));
        await recordActivity(tx, askedEntry(row, site, "created"));
        return row;
      });
    },

    /** The state of every process that is kept up here. */
    processStates: () => runner.known().flatMap((id) => runner.list(id).map(({ state }) => state)),

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

    /** Keeps in mind that a process had to be killed, until the worker is looked at next. */
    noteKill: (id: number, kill: Kill) => kills.add(id, kill),

    /** Stores what was killed since nobody looks any more, at the end of the service. */
    async storeKills(): Promise<void> {
      for (const id of kills.waiting()) await kills.record(id);
    },

    /** After a start of the service: takes over what runs, and goes on with what was cut off. */
    async resume(): Promise<void> {
      const rows = await store.notStopped();
      // What was to be over while nobody looked gets its whole time again.
      const later = rows.map((row) => ({
        row,
        deadlineAt: deadlineAt(row.status, row, clock.now()),
      }));
      await store.transaction((tx) => store.postpone(tx, later));
      await runner.resume(
        await Promise.all(
          rows
            .filter(({ status }) => status !== "removing")
            .map(async (row) => ({
              program: await program(row),
              transition: row.transition,
              up: row.status !== "stopping",
              restartOrder: row.restart_order,
            })),
        ),
      );
      for (const { id, status } of rows)
        if (status === "removing") beginRemoval(id);
        else await observe(id);
      crashWatch.resume(await store.crashLooping());
    },

    /** What happens in time and not by anybody's order: deadlines, and crash loops that begin and end. */
    watch: {
      wake() {
        deadlines.wake();
        crashWatch.wake();
      },
      async stop() {
        await deadlines.stop();
        await crashWatch.stop();
      },
    },
  };
}

export type WorkerService = ReturnType<typeof createWorkerService>;

const ticket = ({ id, transition }: WorkerRow) => ({ id, transition });
