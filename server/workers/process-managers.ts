// The process managers of all servers as one: each order goes to the one that keeps the worker's server.
import type { ServerRow } from "../inventory/store.ts";
import type { Log } from "../log.ts";
import {
  OrderWithdrawn,
  type LookingManager,
  type ProcessManager,
  type Program,
  type Resumed,
} from "./process-manager.ts";

type ProcessManagersOptions = {
  /** The one inside the service. */
  embedded: ProcessManager;
  createSupervisord(server: ServerRow): LookingManager;
  /** Of the servers that workers are on, by worker; one that is on none any more is not in it. */
  serverIdsOf(workerIds: readonly number[]): Promise<Map<number, number>>;
  findServer(id: number): Promise<ServerRow | null>;
  /** All of the inventory. */
  listServers(): Promise<ServerRow[]>;
  /** Whether this instance looks after a server. */
  has(serverId: number): boolean;
  log: Log;
};

export type ProcessManagers = ProcessManager & {
  /** What `resume` does, for the managers of some servers; null = all. */
  take(programs: readonly Resumed[], serverIds: readonly number[] | null): Promise<void>;
  /**
   * Servers are another instance's from now on: forgets them, and leaves what runs there alone.
   * @returns the ids of their workers
   */
  leave(serverIds: readonly number[]): number[];
  /**
   * The inventory has changed: gives what is on another server now to the manager of that one.
   * @returns ids of the workers that have moved; the inventory lets none go that is not stopped
   */
  follow(): Promise<number[]>;
  /** What `know` does, for many at once. */
  knowAll(programs: readonly Program[]): Promise<void>;
  /** A server responds again that did not: what happened on it meanwhile is found out now. */
  noteReached(serverId: number): void;
};

/** A server and what reaches its supervisord; the same for as long as that is the same. */
const keyOf = ({ id, connection, supervisord }: ServerRow) =>
  `${id} ${connection === "local" ? "here" : "there"} ${supervisord?.config ?? ""}`;

export function createProcessManagers(options: ProcessManagersOptions): ProcessManagers {
  const { embedded, log } = options;
  const supervisords = new Map<string, { serverId: number; manager: LookingManager }>();
  const byWorker = new Map<number, ProcessManager>();
  let isEmbeddedResumed = false;
  /** What goes on of workers that have left a manager: what is left there goes once its server can be asked. */
  const leaving = new Map<ProcessManager, Map<number, Promise<void>>>();
  /** Workers that are to come back to a manager once what is left there is gone; resolved when they are given to another. */
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

  /** Nobody waits for that: the server may be gone for good, and the inventory lets no worker go whose processes are up. */
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

  /** @returns the manager of the worker's server, and whether that is another one than before */
  function assign(id: number, server: ServerRow | null) {
    const manager = managerOf(server);
    const before = byWorker.get(id);
    byWorker.set(id, manager);
    const hasMoved = before !== undefined && before !== manager;
    if (hasMoved) leave(before, id);
    return { manager, hasMoved };
  }

  /** The server of each, in a number of queries that does not grow with them. */
  async function serversOf(ids: readonly number[]): Promise<Map<number, ServerRow | null>> {
    const serverIds = await options.serverIdsOf(ids);
    const servers = new Map((await options.listServers()).map((server) => [server.id, server]));
    return new Map(ids.map((id) => [id, servers.get(serverIds.get(id) ?? 0) ?? null]));
  }

  /** For an order that may be the first one since its server was given another. */
  async function choose(id: number): Promise<ProcessManager> {
    const serverId = (await options.serverIdsOf([id])).get(id);
    return take(id, serverId === undefined ? null : await options.findServer(serverId));
  }

  /** @throws OrderWithdrawn where the worker was given to another manager before this one could have it */
  async function take(id: number, server: ServerRow | null): Promise<ProcessManager> {
    const { manager } = assign(id, server);
    const end = leaving.get(manager)?.get(id);
    if (end === undefined) return manager;
    // It has come back before that was over; on a server that is gone for good it never is.
    const movedOn = returning.get(id) ?? Promise.withResolvers<void>();
    returning.set(id, movedOn);
    await Promise.race([end, movedOn.promise]);
    if (byWorker.get(id) !== manager)
      throw new OrderWithdrawn("The worker's site is on another server now.");
    returning.delete(id);
    return manager;
  }

  /** Who has moved on is known to the manager of its server. */
  const unlessMovedOn = (error: unknown): null => {
    if (error instanceof OrderWithdrawn) return null;
    throw error;
  };

  /** The one inside the service ends what no program claims; of a server that came later there is nothing to claim. */
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

  /** By worker, until then: resolves once its newest order was given to a manager. */
  const turns = new Map<number, Promise<unknown>>();

  /** Keeps a worker's orders in the order in which they came: which manager one is for may have to be looked up. */
  async function give<End>(
    id: number,
    find: (id: number) => ProcessManager | Promise<ProcessManager>,
    hand: (manager: ProcessManager) => End,
  ): Promise<Awaited<End>> {
    const before = turns.get(id);
    const turn = (async () => {
      await before?.catch(() => undefined);
      // In an object, because its end is not to be waited for here.
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
        // Its deadline tells that nothing came of it.
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
