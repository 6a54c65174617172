// Combines the process managers of all servers: passes each order to the manager of the worker's server.
import type { ServerRow } from "../../inventory/store.ts";
import type { Log } from "../../log.ts";
import {
  OrderWithdrawn,
  type LookingManager,
  type ProcessManager,
  type Program,
  type Resumed,
} from "./process-manager.ts";

type ProcessManagersOptions = {
  /** The supervisor inside the service. */
  embedded: ProcessManager;
  createSupervisord(server: ServerRow): LookingManager;
  /** @returns the server of each worker; workers without one are left out */
  serverIdsOf(workerIds: readonly number[]): Promise<Map<number, number>>;
  findServer(id: number): Promise<ServerRow | null>;
  /** @returns all servers of the inventory */
  listServers(): Promise<ServerRow[]>;
  /** Whether this instance looks after the server. */
  has(serverId: number): boolean;
  log: Log;
};

export type ProcessManagers = ProcessManager & {
  /** Calls `resume` of the managers of some servers; null = of all. */
  take(programs: readonly Resumed[], serverIds: readonly number[] | null): Promise<void>;
  /**
   * Forgets servers that another instance looks after from now on, and leaves their processes alone.
   * @returns the ids of their workers
   */
  leave(serverIds: readonly number[]): number[];
  /**
   * Called when the inventory has changed: hands each worker to the manager of the server that its site is on now.
   * @returns ids of the workers that have moved; the inventory lets only stopped workers move
   */
  follow(): Promise<number[]>;
  /** Calls `know` for many workers at once. */
  knowAll(programs: readonly Program[]): Promise<void>;
  /** Called when a server responds again: finds out what happened there meanwhile. */
  noteReached(serverId: number): void;
};

/** @returns a key that stays the same as long as the server, its connection and its supervisord do */
const keyOf = ({ id, connection, supervisord }: ServerRow) =>
  `${id} ${connection === "local" ? "here" : "there"} ${supervisord?.config ?? ""}`;

export function createProcessManagers(options: ProcessManagersOptions): ProcessManagers {
  const { embedded, log } = options;
  const supervisords = new Map<string, { serverId: number; manager: LookingManager }>();
  const byWorker = new Map<number, ProcessManager>();
  let isEmbeddedResumed = false;
  /** Removals under way, by manager and worker: a manager that cannot reach its server removes a worker once it can. */
  const leaving = new Map<ProcessManager, Map<number, Promise<void>>>();
  /** Workers that return to a manager once their removal there ends; resolved early when they are given to another manager. */
  const returning = new Map<number, PromiseWithResolvers<void>>();

  function managerOf(server: ServerRow | null): ProcessManager {
    if (server === null || server.supervisord === null) return embedded;
    const key = keyOf(server);
    const existing = supervisords.get(key);
    if (existing !== undefined) return existing.manager;
    const manager = options.createSupervisord(server);
    supervisords.set(key, { serverId: server.id, manager });
    return manager;
  }

  const all = () => [embedded, ...[...supervisords.values()].map(({ manager }) => manager)];
  const known = (id: number) => byWorker.get(id) ?? embedded;

  /** Not awaited, because the server may be gone for good. Nothing runs there: the inventory lets only stopped workers move. */
  function leave(manager: ProcessManager, id: number): void {
    returning.get(id)?.resolve();
    returning.delete(id);
    const ends = leaving.get(manager) ?? new Map<number, Promise<void>>();
    leaving.set(manager, ends);
    const end = manager
      .remove(id)
      .catch((error: unknown) =>
        log.warn({ err: error, worker: id }, "something of a worker was left on its former server"),
      )
      .finally(() => {
        if (ends.get(id) === end) ends.delete(id);
      });
    ends.set(id, end);
  }

  /** @returns the manager of the worker's server, and whether the worker had another one before */
  function assign(id: number, server: ServerRow | null) {
    const manager = managerOf(server);
    const before = byWorker.get(id);
    byWorker.set(id, manager);
    const hasMoved = before !== undefined && before !== manager;
    if (hasMoved) leave(before, id);
    return { manager, hasMoved };
  }

  /** @returns the server of each worker, in a constant number of queries */
  async function serversOf(ids: readonly number[]): Promise<Map<number, ServerRow | null>> {
    const serverIds = await options.serverIdsOf(ids);
    const servers = new Map((await options.listServers()).map((server) => [server.id, server]));
    return new Map(ids.map((id) => [id, servers.get(serverIds.get(id) ?? 0) ?? null]));
  }

  /** Finds the manager for an order, which may be the first since the worker's site moved to another server. */
  async function choose(id: number): Promise<ProcessManager> {
    const serverId = (await options.serverIdsOf([id])).get(id);
    return take(id, serverId === undefined ? null : await options.findServer(serverId));
  }

  /** @throws OrderWithdrawn where the worker was given to another manager before this one could have it */
  async function take(id: number, server: ServerRow | null): Promise<ProcessManager> {
    const { manager } = assign(id, server);
    const end = leaving.get(manager)?.get(id);
    if (end === undefined) return manager;
    // The worker returns before its removal there has ended; on a server that is gone for good, it never ends.
    const movedOn = returning.get(id) ?? Promise.withResolvers<void>();
    returning.set(id, movedOn);
    await Promise.race([end, movedOn.promise]);
    if (byWorker.get(id) !== manager)
      throw new OrderWithdrawn("The worker's site is on another server now.");
    returning.delete(id);
    return manager;
  }

  /** A worker that was given to another manager is known there, so its failure here does not count. */
  const unlessMovedOn = (error: unknown): null => {
    if (error instanceof OrderWithdrawn) return null;
    throw error;
  };

  /** The supervisor ends processes that no worker claims; on a server that was added later there are none. */
  async function beginWith(manager: ProcessManager, its: readonly Resumed[]): Promise<void> {
    if (manager !== embedded || !isEmbeddedResumed) {
      if (manager === embedded) isEmbeddedResumed = true;
      return manager.resume(its);
    }
    for (const { program, up } of its)
      if (up) embedded.start(program);
      else await embedded.know(program);
  }

  async function takeServers(programs: readonly Resumed[], serverIds: readonly number[] | null) {
    const given = new Map<ProcessManager, Resumed[]>();
    if (serverIds === null) given.set(embedded, []);
    for (const server of await options.listServers())
      if (serverIds?.includes(server.id) ?? true) given.set(managerOf(server), []);
    const servers = await serversOf(programs.map(({ program }) => program.id));
    for (const one of programs) {
      const { id } = one.program;
      const manager = await take(id, servers.get(id) ?? null).catch(unlessMovedOn);
      if (manager === null) continue;
      const its = given.get(manager) ?? [];
      given.set(manager, its);
      its.push(one);
    }
    await Promise.all([...given].map(([manager, its]) => beginWith(manager, its)));
  }

  /** By worker: resolves once its newest order was passed to a manager. */
  const turns = new Map<number, Promise<unknown>>();

  /** Passes the orders of a worker on in the order in which they came, although finding the manager may take a query. */
  async function give<End>(
    id: number,
    find: (id: number) => ProcessManager | Promise<ProcessManager>,
    hand: (manager: ProcessManager) => End,
  ): Promise<Awaited<End>> {
    const before = turns.get(id);
    const turn = (async () => {
      await before?.catch(() => undefined);
      // Wrapped in an object, so that this promise does not wait for the end of the order.
      return { end: hand(await find(id)) };
    })();
    turns.set(id, turn);
    const handed = () => {
      if (turns.get(id) === turn) turns.delete(id);
    };
    turn.then(handed, handed);
    return await (
      await turn
    ).end;
  }

  return {
    async follow() {
      const servers = await serversOf([...byWorker.keys()]);
      return [...servers].flatMap(([id, server]) => {
        if (server === null || options.has(server.id))
          return assign(id, server).hasMoved ? [id] : [];
        leave(known(id), id);
        byWorker.delete(id);
        return [];
      });
    },
    leave(serverIds) {
      const left: number[] = [];
      for (const [key, { serverId, manager }] of supervisords) {
        if (!serverIds.includes(serverId)) continue;
        manager.release();
        supervisords.delete(key);
        for (const [id, its] of byWorker) if (its === manager) left.push(id);
      }
      for (const id of left) byWorker.delete(id);
      return left;
    },
    noteReached(serverId) {
      for (const one of supervisords.values()) if (one.serverId === serverId) one.manager.wake();
    },
    resume: (programs) => takeServers(programs, null),
    take: takeServers,
    async know(program) {
      await give(program.id, choose, (manager) => manager.know(program)).catch(unlessMovedOn);
    },
    async knowAll(programs) {
      const servers = await serversOf(programs.map(({ id }) => id));
      const find = (id: number) => take(id, servers.get(id) ?? null);
      for (const program of programs)
        await give(program.id, find, (manager) => manager.know(program)).catch(unlessMovedOn);
    },
    start(program) {
      give(program.id, choose, (manager) => manager.start(program))
        // The deadline of the worker reports that the order had no effect.
        .catch((error: unknown) =>
          log.error({ err: error, worker: program.id }, "a worker was not started"),
        );
    },
    stop: (id) => give(id, known, (manager) => manager.stop(id)),
    restart: (program) => give(program.id, choose, (manager) => manager.restart(program)),
    change: (program, previous) =>
      give(program.id, choose, (manager) => manager.change(program, previous)),
    undo: (program) => give(program.id, known, (manager) => manager.undo(program)),
    deploy: (program) => give(program.id, known, (manager) => manager.deploy(program)),
    withdraw: (program, isUp) =>
      give(program.id, known, (manager) => manager.withdraw(program, isUp)),
    async remove(id) {
      await give(id, choose, (manager) => manager.remove(id));
      byWorker.delete(id);
    },
    known: () => all().flatMap((manager) => manager.known()),
    usage: (id, number) => known(id).usage(id, number),
    usageEvery: embedded.usageEvery,
    processes: (id) => known(id).processes(id),
    readLog: async (id, from) => (byWorker.get(id) ?? (await choose(id))).readLog(id, from),
    refusal: async (serverId) => managerOf(await options.findServer(serverId)).refusal(serverId),
    away: (id) => known(id).away(id),
    seenAt: (id) => known(id).seenAt(id),
    hasTaken: (id) => !turns.has(id) && known(id).hasTaken(id),
    notice: (id) => known(id).notice(id),
    stopAll: async () => void (await Promise.all(all().map((manager) => manager.stopAll()))),
    release() {
      for (const manager of all()) manager.release();
    },
  };
}
