// Replaces programs of supervisord with workers: the program is stopped once its worker is up, and left as it is if the worker does not
// come up. The progress is stored in the worker's row; each turn compares it with supervisord to find the next step.
import type { Logger } from "pino";
import type { CreateWorkerBody } from "../../../contract/workers/bodies.ts";
import { isInTransit } from "../../../contract/states.ts";
import { theService } from "../../activity/actor.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { conflict } from "../../http/service-error.ts";
import type { InventoryStore, ServerRow, SiteRow } from "../../inventory/store.ts";
import { createLoop } from "../../jobs/loop.ts";
import { messageOf } from "../../loggable-error.ts";
import type { TakenProgram } from "../../store/tables/workers.ts";
import { toError } from "../../to-error.ts";
import type { Creator } from "../orders/creator.ts";
import { askedEntry } from "../event-data.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";
import { areStopped, openProgram } from "../supervisord/foreign-programs.ts";
import type { Machine } from "../supervisord/machine.ts";
import { isAway } from "../supervisord/rpc.ts";
import { RpcFault } from "../supervisord/xml-rpc.ts";
import { takerOf, type TakingWorker } from "./take-over-store.ts";

type TakeOverOptions = {
  store: WorkerStore;
  inventory: InventoryStore;
  creator: Pick<Creator, "checkSite" | "insert">;
  machineOf(server: ServerRow): Machine;
  clock: Clock;
  log: Logger;
};

const everyMs = 1000;
/** Interval of checks whether a program that was taken over could still be started by supervisord. */
const lookAfterMs = 15_000;
/** How long a worker must be up before its program is stopped, because it may exit soon after its start. */
const settledMs = 5000;
/** How long requests to supervisord are retried once the worker is up. */
const patienceMs = 10 * 60_000;
/** How long supervisord may take to stop a program, in addition to the stop seconds. */
const stopGraceMs = 60_000;

/** Returns why a worker cannot replace a program; null = it is up or starting. */
function notUp({ id, status, crash_loop_reason: loop }: WorkerRow): string | null {
  switch (status) {
    case "installing":
    case "starting":
    case "restarting":
    case "installed":
      return loop === null ? null : `Worker ${id} is crash-looping.`;
    case "stopping":
    case "stopped":
    case "failed":
    case "removing":
      return `Worker ${id} is ${status}.`;
  }
}

export function createTakeOvers(options: TakeOverOptions) {
  const { store, inventory, creator, machineOf, clock, log } = options;

  const note = (
    row: TakingWorker,
    status: TakenProgram["status"],
    reason: string | null,
  ): Promise<void> =>
    store.transaction(async (tx) => {
      const { take_over: taken } = row;
      const since = status === taken.status ? taken.since : new Date(clock.now()).toISOString();
      const isNoted = await store.setTakeOver(tx, row, { ...taken, status, since, reason });
      const site = isInTransit(status) ? null : await inventory.findSite(row.site_id, tx);
      // A concurrent change of the take-over was first, and recorded it.
      if (!isNoted || site === null) return;
      await recordActivity(tx, {
        ...askedEntry(row, site, status === "finished" ? "took over" : "take-over failed"),
        outcome: status === "finished" ? null : "bad",
        detail: reason ?? `Stopped supervisord's program ${taken.program} of ${taken.file}.`,
        actor: theService,
      });
    });

  /** Returns when the take-over fails if supervisord has not stopped the program, in milliseconds since 1970. */
  function deadlineOf({ take_over: taken, status_since: upSince, stopwaitsecs }: TakingWorker) {
    const sinceMs = Date.parse(taken.since);
    return taken.status === "stopping"
      ? sinceMs + stopwaitsecs * 1000 + stopGraceMs
      : Math.max(sinceMs, upSince?.getTime() ?? 0) + patienceMs;
  }

  async function wait(row: TakingWorker, reason: string | null, late: string): Promise<void> {
    if (clock.now() >= deadlineOf(row)) await note(row, "failed", late);
    else if (reason !== row.take_over.reason) await note(row, row.take_over.status, reason);
  }

  const placeOf = (server: ServerRow) => ({
    machine: machineOf(server),
    config: server.supervisordConfig,
  });

  /** Marks the program of a finished take-over as removed once it is neither in supervisord nor in its file. */
  async function lookAfter(row: TakingWorker): Promise<void> {
    const { take_over: taken } = row;
    const server = await inventory.findServer(taken.server_id);
    if (server === null) return;
    try {
      const { processes, standsIn } = await openProgram(placeOf(server), taken.program);
      if (processes.length > 0 || (await standsIn(taken.file))) return;
    } catch (error) {
      if (isAway(error) || error instanceof RpcFault) return;
      throw error;
    }
    await store.transaction((tx) => store.setTakeOver(tx, row, { ...taken, is_removed: true }));
  }

  /** Stops the program of a worker that is up. */
  async function carryOut(row: TakingWorker, server: ServerRow): Promise<void> {
    const { program: name, command, status } = row.take_over;
    const program = await openProgram(placeOf(server), name);
    if (areStopped(program.processes)) return note(row, "finished", null);
    if (program.command !== null && program.command !== command)
      return note(
        row,
        "failed",
        `${name} runs another command by now, so it was not stopped. Stop it yourself once it is not needed any more.`,
      );
    if (status === "waiting") {
      // Stored before the stop, so that after a kill the next start of the service assumes that the program may be stopped.
      await note(row, "stopping", null);
      return loop.wake();
    }
    await program.stop();
    await wait(
      row,
      null,
      `${name} has not stopped. Stop it yourself: supervisorctl stop ${name}:*`,
    );
  }

  async function step(row: TakingWorker): Promise<void> {
    const { take_over: taken, status, unreachable_since: away, status_since: since } = row;
    // While the server is away, it is unknown whether the worker is up.
    if (away !== null) return;
    const why = notUp(row);
    if (why !== null)
      return note(
        row,
        "failed",
        taken.status === "waiting"
          ? `${why} ${taken.program} was left as it is.`
          : `${why} ${taken.program} may have been stopped by now: look at it with supervisorctl status.`,
      );
    // A worker that does not come up fails at its own deadline.
    if (status !== "installed" || clock.now() - (since?.getTime() ?? 0) < settledMs) return;
    const server = await inventory.findServer(taken.server_id);
    if (server === null) return note(row, "failed", "Its server is no longer in the inventory.");
    try {
      await carryOut(row, server);
    } catch (error) {
      if (!isAway(error) && !(error instanceof RpcFault)) throw error;
      const reason = messageOf(error);
      await wait(row, reason, `${taken.program} was not stopped. ${reason}`);
    }
  }

  let nextMs: number | null = null;
  let lookedAfterMs = Number.NEGATIVE_INFINITY;
  const loop = createLoop({
    name: "take-overs of supervisord's programs",
    everyMs: () => nextMs,
    async turn() {
      // In case the query below fails.
      nextMs = everyMs;
      const rows = await store.takingOver();
      const [moving, finished] = [true, false].map((wanted) =>
        rows.filter((row) => isInTransit(row.take_over.status) === wanted),
      );
      const isDue = clock.now() - lookedAfterMs >= lookAfterMs;
      if (isDue) lookedAfterMs = clock.now();
      const steps = [
        ...(moving ?? []).map(step),
        ...(isDue ? (finished ?? []).map(lookAfter) : []),
      ];
      for (const end of await Promise.allSettled(steps))
        if (end.status === "rejected")
          log.error({ err: toError(end.reason) }, "a take-over is tried again");
      nextMs = moving?.length ? everyMs : finished?.length ? lookAfterMs : null;
    },
    clock,
    log,
  });

  return {
    /**
     * Creates the worker that replaces a program, or continues with the existing one.
     * @param body settings of the worker, already checked
     * @throws a conflict while the worker that took the program over is being deleted
     */
    async begin(
      site: SiteRow,
      taken: Pick<TakenProgram, "program" | "file" | "command" | "config" | "is_alone">,
      body: CreateWorkerBody,
    ): Promise<WorkerRow> {
      await creator.checkSite(site);
      const record: TakenProgram = {
        ...taken,
        server_id: site.serverId,
        status: "waiting",
        since: new Date(clock.now()).toISOString(),
        reason: null,
        is_removed: false,
      };
      const row = await store.transaction(async (tx) => {
        const takers = await store.lockTakers(tx, site.serverId, taken.program);
        const taker = takerOf(takers, { ...taken, siteId: site.id });
        if (taker === null) {
          // Their remaining commands for the operator would remove the current program of this name.
          for (const row of takers)
            await store.setTakeOver(tx, row, { ...row.take_over, is_removed: true });
          return creator.insert(tx, site, body, record);
        }
        if (taker.status === "removing")
          throw conflict(`Worker ${taker.id}, which took it over, is being deleted. Try again.`);
        if (isInTransit(taker.take_over.status)) return taker;
        await store.setTakeOver(tx, taker, record);
        return { ...taker, take_over: record };
      });
      loop.wake();
      return row;
    },
    takersOn: store.takersOn,
    takerOf,
    wake: loop.wake,
    stop: loop.stop,
  };
}

export type TakeOvers = ReturnType<typeof createTakeOvers>;
