// Leases of servers for several instances that share a database. An instance keeps its leases as long as it is alive; the row of
// a lease has its holder and the number of holders so far.
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import type { Log } from "../log.ts";
import type { Connection, Database } from "../store/database.ts";
import { sql, type SQL } from "../store/drizzle.ts";
import type { Listener } from "../store/listen.ts";
import { LeaseLost, type LeaseListener, type Leases, type Owner } from "./leases.ts";
import { createLife, turnMs, type Instance } from "./life.ts";

/** PostgreSQL channel that announces servers that can be taken. */
export const leasesChannel = "quarterdeck_leases";

/** How long a server may be without an instance before it counts as abandoned; a restart is faster. */
const abandonedMs = 30_000;

type SharedLeasesOptions = {
  db: Database;
  listener: Listener;
  instance: Instance;
  /** Of the secret by which other instances recognize this one. */
  secretHash: string;
  clock: Clock;
  log: Log;
};

/** A server and its lease. */
type Found = {
  id: number;
  /** Whether it is the machine of an instance, so that no other instance can look after it. */
  is_local: boolean;
  home: string | null;
  /** The instance that has it; null = none. */
  holder: string | null;
  /** Name of the last instance that had it; null = none so far. */
  last_holder: string | null;
};

export function createSharedLeases(options: SharedLeasesOptions): Leases {
  const { db, instance, clock, log } = options;
  const { home } = instance;
  const life = createLife({ ...options, onOver: expire });
  /** Held servers. The local one never passes to another instance while this process has its data folder. */
  const held = { local: new Set<number>(), remote: new Set<number>() };
  /**
   * Servers of this machine that it still has, but that others may have reported as abandoned. The listener has still to be
   * called.
   */
  const returning = new Set<number>();
  /** All servers, as of the last turn. */
  let known: readonly number[] = [];
  /** Since when a server is known to have no holder, by id. Milliseconds of `performance.now`. */
  const freeSince = new Map<number, number>();
  let listener: LeaseListener | null = null;
  let isLooking = false;
  let isStopping = false;

  const has = (serverId: number) =>
    held.local.has(serverId) || (life.isValid() && held.remote.has(serverId));

  let changing: Promise<void> = Promise.resolve();
  /** Serializes changes: starting work for a server completes before the server can be lost. */
  function change(work: () => Promise<void>): Promise<void> {
    const done = changing.then(work);
    changing = done.catch(() => undefined);
    return done;
  }

  async function lose(ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    for (const one of ids) held.remote.delete(one);
    await change(async () => listener?.lost(ids));
  }

  /** Called when the lease has expired, so that other instances may have taken the servers over SSH. */
  async function expire(): Promise<void> {
    if (held.remote.size > 0)
      log.warn({ servers: held.remote.size }, "this instance was taken for dead");
    await lose([...held.remote]);
  }

  async function list(): Promise<Found[]> {
    const { rows } = await db.execute<Found>(sql`
      select servers.id, coalesce(servers.entry ->> 'connection' = 'local', false) as is_local, lease.home,
        instances.id as holder, lease.instance_name as last_holder
      from servers
      left join server_leases lease on lease.server_id = servers.id
      left join instances on instances.id = lease.instance_id
      order by servers.id`);
    return rows;
  }

  /** Number of servers over SSH for this instance if all runners have equally many. */
  async function share(total: number): Promise<number> {
    const { rows } = await db.execute<{ runners: number }>(
      sql`select count(*)::int as runners from instances where role <> 'api'`,
    );
    return Math.ceil(total / Math.max(1, rows[0]?.runners ?? 1));
  }

  /** @returns the servers that were taken; another instance may have been faster */
  async function take(free: readonly Found[]): Promise<Set<number>> {
    if (free.length === 0) return new Set();
    const { rows } = await db.execute<{ server_id: number }>(sql`
      insert into server_leases as lease (server_id, instance_id, instance_name, home)
      select servers.id, ${life.id()}, ${instance.name}::text, case when servers.entry ->> 'connection' = 'local' then ${home}::uuid end
      from servers where servers.id = any(${sql.param(free.map((one) => one.id))}::int[])
      on conflict (server_id) do update
        set instance_id = excluded.instance_id, instance_name = excluded.instance_name, home = excluded.home,
          epoch = lease.epoch + 1, since = now()
        where (excluded.home is null or lease.home is null or lease.home = excluded.home)
          and not exists (select from instances where instances.id = lease.instance_id)
      returning server_id`);
    return new Set(rows.map((row) => row.server_id));
  }

  const announce = () => db.execute(sql`select pg_notify(${leasesChannel}, '')`);

  /** Releases servers beyond this instance's share, so that a new instance gets its own. */
  async function giveBack(ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await lose(ids);
    await db.execute(sql`
      update server_leases set instance_id = null
      where instance_id = ${life.id()} and server_id = any(${sql.param([...ids])}::int[])`);
    await announce();
  }

  async function turn(): Promise<void> {
    if (!(await life.renew())) {
      for (const one of held.local) returning.add(one);
      await life.begin();
    }
    await db.execute(sql`delete from instances where until <= clock_timestamp()`);
    const servers = await list();
    const mine = new Set(servers.flatMap((one) => (one.holder === life.id() ? [one.id] : [])));
    for (const one of held.local)
      if (!servers.some((server) => server.id === one && server.is_local)) held.local.delete(one);
    await lose([...held.remote].filter((one) => !mine.has(one)));
    if (instance.role !== "api") await balance(servers, mine);
    known = servers.map((one) => one.id);
    await noteAbandoned(servers.filter((one) => one.holder === null && !has(one.id)));
  }

  async function noteAbandoned(free: readonly Found[]): Promise<void> {
    const nowMs = performance.now();
    for (const id of freeSince.keys()) if (!free.some((one) => one.id === id)) freeSince.delete(id);
    for (const { id } of free) if (!freeSince.has(id)) freeSince.set(id, nowMs);
    const abandoned = free.flatMap(({ id, last_holder: last }) =>
      last !== null && nowMs - (freeSince.get(id) ?? nowMs) > abandonedMs
        ? [{ id, instance: last }]
        : [],
    );
    if (abandoned.length > 0) await listener?.abandoned(abandoned);
  }

  /**
   * Calls the listener. If it fails, for example without a database, the servers are given up, and the next turn takes them
   * again.
   */
  async function begin(ids: readonly number[]): Promise<void> {
    try {
      await change(async () => listener?.taken(ids));
    } catch (error) {
      for (const one of ids) held.local.delete(one);
      await lose(ids);
      throw error;
    }
  }

  /** Calls the listener; after a failure the next turn does so again. */
  async function regain(isBack: (id: number) => boolean): Promise<void> {
    const ids = [...returning].filter(isBack);
    if (ids.length === 0) return;
    await change(async () => listener?.regained(ids));
    for (const one of ids) returning.delete(one);
  }

  async function balance(servers: readonly Found[], mine: ReadonlySet<number>): Promise<void> {
    const remote = servers.filter((one) => !one.is_local);
    const most = await share(remote.length);
    const free = servers.filter((one) => one.holder === null);
    const here = free.filter((one) => one.is_local && (one.home === null || one.home === home));
    const ownRemote = remote.filter((one) => mine.has(one.id));
    const room = Math.max(0, most - ownRemote.length);
    const reached = free.filter((one) => !one.is_local).slice(0, room);
    const got = isStopping ? new Set<number>() : await take([...here, ...reached]);
    // Servers that were held all the time need no start.
    const taken = servers.filter(
      ({ id: one }) =>
        (got.has(one) || mine.has(one)) && !held.local.has(one) && !held.remote.has(one),
    );
    await regain((id) => held.local.has(id) && (got.has(id) || mine.has(id)));
    for (const one of taken) (one.is_local ? held.local : held.remote).add(one.id);
    if (taken.length > 0) await begin(taken.map((one) => one.id));
    if (!isStopping)
      await giveBack(
        ownRemote
          .filter((one) => listener?.isBusy(one.id) !== true)
          .slice(0, Math.max(0, ownRemote.length - most))
          .map((one) => one.id),
      );
  }

  async function holdFree(tx: Connection, serverId: number): Promise<void> {
    const { rows } = await tx.execute<{ instance_id: string | null }>(
      sql`select instance_id from server_leases where server_id = ${serverId} for share`,
    );
    // A separate statement, so that it sees an instance that took the server while the first statement waited.
    const living = await tx.execute(
      sql`select from instances where id = ${rows[0]?.instance_id ?? null}::uuid`,
    );
    if (living.rows.length > 0) throw new LeaseLost();
  }

  async function hold(tx: Connection, serverId: SQL): Promise<void> {
    const { rows } = await tx.execute(sql`
      select from server_leases where server_id = ${serverId} and instance_id = ${life.id()} for share`);
    if (rows.length === 0) throw new LeaseLost();
  }

  const loop = createLoop({
    name: "leases of servers",
    everyMs: turnMs,
    async turn() {
      try {
        await turn();
      } catch (error) {
        // After a failed renewal the lease may have expired.
        if (!life.isValid()) await expire();
        throw error;
      }
    },
    clock,
    log,
  });
  const wake = () => {
    if (isLooking) loop.wake();
  };
  options.listener.on(leasesChannel, wake);

  return {
    isShared: true,
    has,
    // Evaluated now, because the lease may have expired since the last turn.
    elsewhere: () => known.filter((one) => !has(one)),
    condition: (serverId) =>
      sql`exists (select from server_leases lease where lease.server_id = ${serverId} and lease.instance_id = ${life.id()})`,
    hold: (tx, serverId) => hold(tx, sql`${serverId}`),
    holdOfSite: (tx, siteId) => hold(tx, sql`(select server_id from sites where id = ${siteId})`),
    holdFree,
    async holdThose(tx, serverIds) {
      const { rows } = await tx.execute<{ server_id: number }>(sql`
        select server_id from server_leases
        where instance_id = ${life.id()} and server_id = any(${sql.param([...serverIds])}::int[]) order by server_id for share`);
      return new Set(rows.map((row) => row.server_id));
    },
    async ownerOf(serverId): Promise<Owner | "this" | null> {
      if (has(serverId)) return "this";
      const { rows } = await db.execute<Owner & { id: string }>(sql`
        select instances.id, instances.name, instances.address from server_leases lease
        join instances on instances.id = lease.instance_id where lease.server_id = ${serverId}`);
      const [owner] = rows;
      return owner === undefined || owner.id === life.id()
        ? null
        : { name: owner.name, address: owner.address };
    },
    wake,
    async start(given) {
      listener = given;
      await turn();
      isLooking = true;
      loop.wake();
    },
    async stop() {
      isStopping = true;
    },
    async release() {
      isStopping = true;
      await loop.stop();
      await life.end();
      held.local.clear();
      try {
        await db.execute(sql`
          with gone as (delete from instances where id = ${life.id()})
          update server_leases set instance_id = null where instance_id = ${life.id()}`);
        await announce();
      } catch (error) {
        log.warn({ err: error }, "the leases were not handed over; they run out by themselves");
      }
    },
  };
}
