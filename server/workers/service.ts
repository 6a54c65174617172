// The rules of workers: which orders a state allows, and how the processes change the state.
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { InventoryStore, ServerRow, SiteRow } from "../inventory/store.ts";
import type { Leases } from "../instances/leases.ts";
import type { JobData } from "../jobs/job-data.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Servers } from "../ssh/servers.ts";
import type { ListRequest } from "../store/filtered-rows.ts";
import { createActions } from "./orders/actions.ts";
import { brokenBy, createChanger, isUnsettled } from "./change/changer.ts";
import { crashLoopOf, isCountedAnew } from "./crash-loop/crash-loop.ts";
import { createCrashWatch } from "./crash-loop/crash-watch.ts";
import { createCreator } from "./orders/creator.ts";
import { createDeadlineLoop } from "./deadlines/deadline-loop.ts";
import { deadlineAt } from "./deadlines/deadlines.ts";
import { createDeployer } from "./deployment/deployer.ts";
import { createInventoryFollower } from "./processes/inventory-follower.ts";
import { createKillNotes } from "./status/kills.ts";
import { createMover } from "./status/mover.ts";
import { createObserver } from "./status/observer.ts";
import { outcomeOf, tell } from "./status/outcome.ts";
import {
  OrderWithdrawn,
  type LogPosition,
  type ProcessListener,
} from "./processes/process-manager.ts";
import type { ProcessManagers } from "./processes/process-managers.ts";
import type { Machine } from "./supervisord/machine.ts";
import type { WorkerRow, WorkerStore } from "./store.ts";
import { createTakeOvers } from "./take-over/take-overs.ts";
import { createTransitions } from "./status/transitions.ts";
import { createWithdrawer } from "./orders/withdrawer.ts";
import { previousProgramOf, programOf } from "./processes/worker-program.ts";

type WorkerServiceOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  /** Creates the process managers, which report to this service. */
  createManager(listener: ProcessListener): ProcessManagers;
  machineOf(server: ServerRow): Machine;
  jobs: Pick<Jobs, "send">;
  servers: Pick<Servers, "open">;
  leases: Pick<Leases, "has">;
  clock: Clock;
  log: Logger;
};

export function createWorkerService(options: WorkerServiceOptions) {
  const { store, inventory, leases, clock, log } = options;
  const kills = createKillNotes(store, inventory);
  const observer = createObserver(observe, clock, log);
  const manager = options.createManager({
    onChange: observer.notice,
    onKill(id, kill) {
      kills.add(id, kill);
      observer.notice(id);
    },
  });
  const transitions = createTransitions({ manager, log });
  const { order, isNewest, isTaken, lastStatusOf, follow, processesOf } = transitions;
  const mover = createMover({ ...options, manager });
  const { move, fail } = mover;
  const deployer = createDeployer({ ...options, manager, mover, order, lastStatusOf });
  const changer = createChanger({ ...options, manager, mover, order, lastStatusOf });
  const withdraw = createWithdrawer({ ...options, manager, order });
  const creator = createCreator({ ...options, manager });
  const takeOvers = createTakeOvers({ ...options, creator });
  const crashWatch = createCrashWatch({ ...options, manager });
  const follower = createInventoryFollower({ ...options, manager });
  const deadlines = createDeadlineLoop({
    ...options,
    ...changer,
    mover,
    processesOf,
    follow,
    seenAt: manager.seenAt,
    notice: manager.notice,
    observe,
  });

  /** Continues in the background: a stop may take minutes, and the jobs behind this one must not wait for it. */
  function beginRemoval({ id, transition }: Pick<WorkerRow, "id" | "transition">): void {
    if (!isNewest(id, transition)) return;
    manager
      .remove(id)
      .then(() => {
        transitions.forget(id);
        return kills.record(id);
      })
      .then(() => store.remove({ id, transition }))
      .catch((error: unknown) => {
        if (error instanceof OrderWithdrawn) return;
        // The deadline moves the worker to failed, and it can be deleted again.
        log.error({ err: error, worker: id }, "a worker was not removed");
      });
  }

  /** Stores whether the worker's server responds. @returns the row; null if the state of the processes is unknown */
  async function reach(row: WorkerRow | null): Promise<WorkerRow | null> {
    if (row === null) return null;
    const away = manager.away(row.id);
    if (away === "unseen") return null;
    if (away === null)
      return row.unreachable_since === null
        ? row
        : // The deadline restarts now that the server responds.
          store.setReachable(row, deadlineAt(row.status, row, clock.now()));
    if (row.unreachable_reason === away.reason) return null;
    const isNoted = await store.setUnreachable(row, away, isTaken(row));
    return isNoted ? null : reach(await store.byId(row.id));
  }

  /** Moves a worker to the status that its processes show. */
  async function observe(id: number): Promise<void> {
    const found = await store.withServer(id);
    if (found === null || !leases.has(found.serverId)) return;
    await kills.record(id);
    const row = await reach(await store.byId(id));
    const processes = row && processesOf(row);
    if (row === null || processes === null) return;
    const broken = brokenBy(row, processes);
    if (broken !== undefined) return void (await changer.undo(row, tell(broken)));
    if (row.status === "restarting" && isUnsettled(row, processes)) return;
    const outcome = outcomeOf(row.status, processes, row.required_deployment_id);
    if (outcome === null) return;
    const { status } = outcome;
    const reason = outcome.reason ?? row.kill_reason;
    const moved =
      status === "failed" && reason !== null
        ? await fail(row, reason)
        : await store.transaction((tx) => move(tx, row, status, reason));
    if (moved !== null) follow(moved);
  }

  return {
    list: ({ id, workerCount }: SiteRow, page: ListRequest) => store.list(id, workerCount, page),
    withServer: (id: number) => store.withServer(id),
    usage: (id: number) => ({
      every: manager.usageEvery,
      processes: manager
        .processes(id)
        .map(({ number }) => ({ number, ...manager.usage(id, number) })),
    }),
    readLog: (id: number, position: LogPosition) => manager.readLog(id, position),
    ...createActions({ ...options, mover, lastStatusOf }),
    withdraw,
    create: creator.create,
    checkFields: creator.checkFields,
    takeOvers,
    update: changer.update,
    noteDeployment: deployer.note,
    deploy: deployer.carryOut,
    /** Workers in a crash loop. */
    crashLoops: crashWatch.looping,

    /** @returns the worker's processes, and the crash loop that they are in; null = none */
    look(row: WorkerRow) {
      const processes = manager.processes(row.id);
      return { processes, crashLoop: crashLoopOf(row, processes), notice: manager.notice(row.id) };
    },

    /** @returns the state of every process of this instance */
    processStates: () =>
      manager.known().flatMap((id) => manager.processes(id).map(({ state }) => state)),

    /** Carries out an order, unless a newer one was given since. */
    async apply({ id, transition }: JobData["worker.apply"]): Promise<void> {
      const row = await store.byId(id);
      if (row === null || row.transition !== transition) return;
      const site = await inventory.findSite(row.site_id);
      const wanted = programOf(row, site);
      const previous = previousProgramOf(row, site);
      if (isCountedAnew(row)) crashWatch.noteOrder(row);
      switch (row.status) {
        case "installing":
        case "starting":
          return order(id, transition, () => manager.start(wanted));
        case "restarting":
          return order(id, transition, () =>
            previous === null ? manager.restart(wanted) : manager.change(wanted, previous),
          );
        case "stopping":
          return order(id, transition, async () => {
            await manager.stop(id);
            // Processes that have ended already report no change, so the status is checked here.
            observer.notice(id);
          });
        case "removing":
          // The manager may not know the worker yet.
          await manager.know(wanted);
          return beginRemoval(row);
        case "installed":
        case "stopped":
        case "failed":
          // Its settings were changed. Changes of its processes belong to the current row.
          transitions.follow(row);
          return observer.notice(id);
      }
    },

    /**
     * Begins to look after servers: adopts the processes that run there, and resumes interrupted orders.
     * @param serverIds null = all
     */
    async take(serverIds: readonly number[] | null): Promise<void> {
      const [stopped, rows] = await store.byRest(serverIds);
      // Deadlines restart, because no instance looked after the servers meanwhile.
      const later = rows.map((row) => ({
        row,
        deadlineAt: deadlineAt(row.status, row, clock.now()),
      }));
      await store.transaction((tx) => store.postpone(tx, later));
      for (const row of rows) if (row.status !== "removing") transitions.takeUp(row);
      const sites = await inventory.findSites([
        ...new Set([...rows, ...stopped].map((row) => row.site_id)),
      ]);
      const records = await store.recordsOf(rows.map(({ id }) => id));
      const siteOf = (row: WorkerRow) => sites.get(row.site_id) ?? null;
      await manager.take(
        rows.map((row) => ({
          program: programOf(row, siteOf(row)),
          previous: previousProgramOf(row, siteOf(row)),
          up: row.status !== "stopping" && row.status !== "removing",
          restartOrder: row.restart_order,
          records: records.get(row.id),
        })),
        serverIds,
      );
      await manager.knowAll(stopped.map((row) => programOf(row, siteOf(row))));
      for (const row of rows)
        if (row.status === "removing") beginRemoval(row);
        else await observe(row.id);
      for (const row of stopped) if (row.unreachable_since !== null) await observe(row.id);
      crashWatch.resume([...rows, ...stopped]);
    },

    setAbandoned: store.setAbandoned,

    /** Updates workers that another instance marked as unreachable on servers that this one looked after all the time. */
    async regain(serverIds: readonly number[]): Promise<void> {
      for (const row of (await store.byRest(serverIds)).flat())
        if (row.unreachable_since !== null) observer.notice(row.id);
    },

    /** Stops looking after servers, which another instance does from now on. Resolves once nothing more is stored for them. */
    async leave(serverIds: readonly number[]): Promise<void> {
      for (const id of manager.leave(serverIds)) {
        transitions.forget(id);
        crashWatch.forget(id);
      }
      await observer.settled();
    },

    /** Called when the inventory has changed, because sites may be on other servers now. */
    followInventory: follower.wake,

    noteReached: manager.noteReached,

    /** Starts the loops for deadlines, crash loops and interrupted take-overs, or runs them now. */
    wake() {
      takeOvers.wake();
      deadlines.wake();
      crashWatch.wake();
    },

    /** @param processes whether they keep running; their changes during the stop do not change the status of a worker */
    async close(processes: "keep" | "stop"): Promise<void> {
      for (const part of [follower, takeOvers, deadlines, crashWatch, observer]) await part.stop();
      if (processes === "keep") return manager.release();
      await manager.stopAll();
      for (const id of kills.waiting()) await kills.record(id);
    },
  };
}

export type WorkerService = ReturnType<typeof createWorkerService>;
