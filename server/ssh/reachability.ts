// Checks whether each server over SSH responds, and reads facts of each machine.
import type { Server, ServerStatus } from "../../contract/servers.ts";
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import { LeaseLost, type Leases } from "../instances/leases.ts";
import type { ServerRow } from "../inventory/store.ts";
import { createLoop } from "../jobs/loop.ts";
import { toError } from "../to-error.ts";
import type { Database } from "../store/database.ts";
import { createContacts, type Contact } from "./contacts.ts";
import { readFacts, type Facts } from "./facts.ts";
import { HostKeyUnconfirmed } from "./host-keys.ts";
import type { RemoteServer, Servers } from "./servers.ts";
import { placeOf } from "./target.ts";

/** With the time limit of a reply and of one new attempt, an unreachable server shows within 30 s. */
const everyMs = 8000;
/** Limit of one new attempt after a connection was lost. */
const attemptMs = 10_000;
/** How long facts of a machine are shown before they are read again. */
const factsMs = 60_000;

/** Key of this machine; all `local` servers share its facts. */
const thisMachine = {};
type Machine = RemoteServer | typeof thisMachine;

type Seen = { latency: number | null; unconfirmed: HostKeyUnconfirmed | null };

export type Reachability = {
  /** Returns extra fields of servers in lists; none for the machine of a service that runs alone. */
  extrasOf(ids: readonly number[]): Promise<Map<number, Partial<Server>>>;
  status(server: Pick<ServerRow, "id" | "connection">): Promise<ServerStatus>;
  /** Called with servers that this instance looks after from now on. Checks those over SSH. */
  noteTaken(ids: readonly number[]): Promise<void>;
  /**
   * Stores that no instance looks after a server, so that it counts as unreachable.
   * @returns null where its entry is gone
   * @throws LeaseLost where an instance looks after it again
   */
  noteAbandoned(id: number, reason: string): Promise<Contact | null>;
  /** Checks all servers now. */
  wake(): void;
  /** Stops recording. Resolves when no check runs any more; closing the connections makes that faster. */
  stop(): Promise<void>;
};

type Options = {
  db: Database;
  servers: Servers;
  leases: Pick<Leases, "isShared" | "has" | "hold" | "holdFree">;
  /** Called with the id of a server that responds, and awaited before the server counts as reachable. */
  onResponse(id: number): Promise<void>;
  /** Called with the id of a server that responds and did not respond before. */
  onReached(id: number): void;
  clock: Clock;
  log: Logger;
};

export function createReachability(options: Options): Reachability {
  const { db, servers, leases, onResponse, onReached, clock, log } = options;
  const contacts = createContacts({ db, clock });
  const isThisMachine = (id: number) => !servers.list().some((server) => server.id === id);
  // Keyed by the object, so that a changed entry starts without a result.
  const seen = new WeakMap<RemoteServer, Seen>();
  /** What this service has stored, so that an unchanged result costs no query. */
  const stored = new WeakMap<RemoteServer, Contact>();
  const found = new WeakMap<Machine, { facts: Facts; atMs: number }>();
  const looks = new Map<Machine, Promise<void>>();

  /** @returns null where the server responds */
  async function ask(server: RemoteServer): Promise<Error | null> {
    const { connection } = server;
    const note = (latency: number | null, error: unknown) =>
      seen.set(server, {
        latency,
        unconfirmed: error instanceof HostKeyUnconfirmed ? error : null,
      });
    try {
      note(await connection.ping(), null);
      return null;
    } catch {
      // The connection may be lost while the server is well, so one new attempt follows at once.
    }
    try {
      await connection.identify({ signal: AbortSignal.timeout(attemptMs) });
      note(await connection.ping(), null);
      return null;
    } catch (caught) {
      const error = toError(caught);
      note(null, error);
      return error.name === "TimeoutError"
        ? new Error(`${connection.place} did not respond in time.`)
        : error;
    }
  }

  async function check(server: RemoteServer): Promise<void> {
    const error = await ask(server);
    if (error === null) await onResponse(server.id);
    // The connection was closed here, which says nothing about the server.
    if (isStopped || !servers.list().includes(server)) return;
    const isAs = (contact: Contact | undefined) =>
      contact?.reachable === (error === null) && contact.reason === (error?.message ?? null);
    if (isAs(stored.get(server))) return;
    const kept = await contacts.note(
      { id: server.id, place: placeOf(server.target) },
      error?.message ?? null,
      (tx) => leases.hold(tx, server.id),
    );
    if (kept === null) return;
    stored.set(server, kept.contact);
    if (kept.isReached) onReached(server.id);
  }

  let isStopped = false;
  const checks = new Map<RemoteServer, Promise<void>>();
  const loop = createLoop({
    name: "contact with servers",
    everyMs,
    async turn() {
      for (const server of servers.list()) {
        if (!leases.has(server.id)) {
          // Another instance may store something else before this one has the lease again.
          stored.delete(server);
          continue;
        }
        // A slow server must not hold up the others.
        if (checks.has(server)) continue;
        const checking = check(server)
          .catch((error: unknown) => {
            if (error instanceof LeaseLost) return;
            log.error({ err: error, server: server.id }, "a server could not be checked");
          })
          .finally(() => checks.delete(server));
        checks.set(server, checking);
      }
    },
    clock,
    log,
  });

  /** Reads the facts unless they are recent. They show with the next request, which also retries a failed reading. */
  function lookAt(id: number, machine: Machine): Promise<void> {
    const nowMs = clock.now();
    const before = found.get(machine);
    if (before !== undefined && nowMs - before.atMs < factsMs) return Promise.resolve();
    const looking =
      looks.get(machine) ??
      servers
        .open(id)
        .then(async (host) =>
          found.set(machine, { facts: await readFacts(host, nowMs), atMs: nowMs }),
        )
        .catch((error: unknown) => {
          log.debug({ err: error, server: id }, "a server could not be looked at");
        })
        .then(() => void looks.delete(machine));
    looks.set(machine, looking);
    return looking;
  }

  /** Returns the last stored status of a server that no instance looks after. */
  async function statusWithout(id: number): Promise<Omit<ServerStatus, "connection">> {
    const contact = await contacts.of(id);
    return {
      place: null,
      user: null,
      reachable: contact?.reachable ?? null,
      since: toTimestampOrNull(contact?.since ?? null),
      status_reason: contact?.reason ?? null,
      latency: null,
      host_key: null,
      facts: null,
    };
  }

  return {
    wake: loop.wake,
    async noteTaken(ids) {
      const known = await contacts.all();
      for (const id of ids)
        if (known.get(id)?.reachable === false && isThisMachine(id))
          await contacts.note({ id, place: null }, null);
    },
    async noteAbandoned(id, reason) {
      const kept = await contacts.note({ id, place: null }, reason, (tx) =>
        leases.holdFree(tx, id),
      );
      return kept?.contact ?? null;
    },
    async stop() {
      isStopped = true;
      await loop.stop();
      await Promise.all(checks.values());
    },

    async extrasOf(ids) {
      const remote = new Map(servers.list().map((server) => [server.id, server]));
      const extras = new Map<number, Partial<Server>>();
      // The machine of a service that runs alone is always reachable.
      if (remote.size === 0 && !leases.isShared) return extras;
      const known = await contacts.all();
      for (const id of ids) {
        const server = remote.get(id);
        const contact = known.get(id);
        if (server === undefined && contact === undefined) continue;
        extras.set(id, {
          ...(server !== undefined && { memory: found.get(server)?.facts.memory ?? null }),
          reachable: contact?.reachable ?? null,
          unreachable_since: contact?.reachable === false ? toTimestamp(contact.since) : null,
          status_reason: contact?.reason ?? null,
        });
      }
      return extras;
    },

    async status({ id, connection }) {
      if (!leases.has(id))
        return {
          ...(await statusWithout(id)),
          connection: connection === "local" ? "local" : "ssh",
        };
      const server = servers.find(id);
      const looking = lookAt(id, server ?? thisMachine);
      if (server === null) {
        await looking;
        return {
          connection: "local",
          place: null,
          user: null,
          reachable: true,
          since: null,
          status_reason: null,
          latency: null,
          host_key: null,
          facts: found.get(thisMachine)?.facts ?? null,
        };
      }
      const contact = await contacts.of(id);
      const { latency = null, unconfirmed = null } = seen.get(server) ?? {};
      const hop = unconfirmed?.hop ?? "server";
      const { target } = server;
      return {
        connection: "ssh",
        place: placeOf(target),
        user: target.user,
        reachable: contact?.reachable ?? null,
        since: toTimestampOrNull(contact?.since ?? null),
        status_reason: contact?.reason ?? null,
        latency: latency === null ? null : Math.round(latency * 10) / 10,
        host_key: {
          state:
            unconfirmed === null
              ? target.hostKey === null
                ? "unconfirmed"
                : "confirmed"
              : unconfirmed.isChanged
                ? "changed"
                : "unconfirmed",
          hop,
          pinned: (hop === "jump" ? target.jump?.hostKey : target.hostKey) ?? null,
          offered: (unconfirmed?.offered ?? []).map(({ type, fingerprint }) => ({
            type,
            fingerprint,
          })),
        },
        facts: found.get(server)?.facts ?? null,
      };
    },
  };
}
