// Whether each server over SSH responds, since when and why not; and what was found on each machine.
import type { Server, ServerStatus } from "../../contract/servers.ts";
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import { theService } from "../activity/actor.ts";
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { NewEvent } from "../events/event.ts";
import { recordEvent } from "../events/store.ts";
import { createLoop } from "../jobs/loop.ts";
import { toError } from "../to-error.ts";
import type { Database } from "../store/database.ts";
import { eq } from "../store/drizzle.ts";
import { serverContacts, servers as serverRows } from "../store/tables.ts";
import { readFacts, type Facts } from "./facts.ts";
import { HostKeyUnconfirmed } from "./host-keys.ts";
import type { RemoteServer, Servers } from "./servers.ts";
import { placeOf } from "./target.ts";

/** With the time that an answer may take and the one new attempt, a server that is away shows within 30 s. */
const everyMs = 8000;
/** One new attempt after a connection was lost. */
const attemptMs = 10_000;
/** What was found on a machine is shown for so long before it is looked for again. */
const factsMs = 60_000;

type Contact = typeof serverContacts.$inferSelect;
/** Servers that are this machine share what is found on it. */
const thisMachine = {};
type Machine = RemoteServer | typeof thisMachine;

type Seen = { latency: number | null; unconfirmed: HostKeyUnconfirmed | null };

export type Reachability = {
  /** Extras of a server in lists; nothing for the machine of the service. */
  extrasOf(ids: readonly number[]): Promise<Map<number, Partial<Server>>>;
  status(id: number): Promise<ServerStatus>;
  /** Asks all servers now. */
  wake(): void;
  /** Records nothing any more. Resolves when nothing is asked any more, which the end of the connections hastens. */
  stop(): Promise<void>;
};

type Options = {
  db: Database;
  servers: Servers;
  /** Called with the id of a server that responds, and waited for before it is called reachable. */
  onResponse(id: number): Promise<void>;
  /** Called with the id of a server that responds and did not before. */
  onReached(id: number): void;
  clock: Clock;
  log: Logger;
};

export function createReachability(options: Options): Reachability {
  const { db, servers, onResponse, onReached, clock, log } = options;
  // Of a server whose entry was changed nothing is known any more.
  const seen = new WeakMap<RemoteServer, Seen>();
  /** As this service has stored it: what is the same again costs no query. */
  const stored = new WeakMap<RemoteServer, Contact>();
  const found = new WeakMap<Machine, { facts: Facts; atMs: number }>();
  const looks = new Map<Machine, Promise<void>>();

  /** @returns null where it responds */
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
      // A connection may have been lost while the server is well: that is found out at once.
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
    // Its connection was ended here, which says nothing of the server.
    if (isStopped || !servers.list().includes(server)) return;
    const isAs = (contact: Contact | undefined) =>
      contact?.reachable === (error === null) && contact.reason === (error?.message ?? null);
    if (isAs(stored.get(server))) return;
    const kept = await db.transaction(async (tx) => {
      const [row] = await tx.select().from(serverRows).where(eq(serverRows.id, server.id));
      // Its entry has gone meanwhile, or is not stored yet.
      if (row === undefined) return null;
      const [before] = await tx
        .select()
        .from(serverContacts)
        .where(eq(serverContacts.server_id, server.id))
        .for("update");
      if (before !== undefined && isAs(before)) return { contact: before, isReached: false };
      const now = new Date(clock.now());
      const isSame = before?.reachable === (error === null);
      const isLost = before?.reachable === true && error !== null;
      const contact: Contact = {
        server_id: server.id,
        reachable: error === null,
        since: isSame ? before.since : now,
        reason: error?.message ?? null,
        is_reported: error !== null && (isLost || before?.is_reported === true),
      };
      await tx
        .insert(serverContacts)
        .values(contact)
        .onConflictDoUpdate({ target: serverContacts.server_id, set: contact });
      if (isLost) await recordEvent(tx, contactEvent(server, contact, now));
      else if (error === null && before?.is_reported === true)
        await recordEvent(tx, contactEvent(server, contact, before.since));
      return { contact, isReached: error === null && !isSame };
    });
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
        // A server that takes its time holds no other up.
        if (checks.has(server)) continue;
        const checking = check(server)
          .catch((error: unknown) => {
            log.error({ err: error, server: server.id }, "a server could not be checked");
          })
          .finally(() => checks.delete(server));
        checks.set(server, checking);
      }
    },
    clock,
    log,
  });

  /** What is found is there with the next question; a look that failed is repeated then. */
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

  async function contactOf(id: number): Promise<Contact | null> {
    const rows = await db.select().from(serverContacts).where(eq(serverContacts.server_id, id));
    return rows[0] ?? null;
  }

  return {
    wake: loop.wake,
    async stop() {
      isStopped = true;
      await loop.stop();
      await Promise.all(checks.values());
    },

    async extrasOf(ids) {
      const remote = servers.list().filter(({ id }) => ids.includes(id));
      const extras = new Map<number, Partial<Server>>();
      if (remote.length === 0) return extras;
      const contacts = new Map(
        (await db.select().from(serverContacts)).map((row) => [row.server_id, row]),
      );
      for (const server of remote) {
        const { id } = server;
        const contact = contacts.get(id);
        extras.set(id, {
          memory: found.get(server)?.facts.memory ?? null,
          reachable: contact?.reachable ?? null,
          unreachable_since: contact?.reachable === false ? toTimestamp(contact.since) : null,
          status_reason: contact?.reason ?? null,
        });
      }
      return extras;
    },

    async status(id) {
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
      const contact = await contactOf(id);
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

const contactEvent = (server: RemoteServer, contact: Contact, since: Date): NewEvent => ({
  type: contact.reachable ? "server.recovered" : "server.unreachable",
  server_id: server.id,
  site_id: null,
  database_id: null,
  data: {
    server_id: server.id,
    unreachable_since: toTimestamp(since),
    ...(contact.reason !== null && { reason: contact.reason }),
  },
  notification: {
    subject: server.name,
    facts: [["Address", placeOf(server.target)]],
    moments: [],
    reason: contact.reason,
    path: `/servers/${server.id}`,
  },
  activity: {
    kind: "server",
    action: contact.reachable ? "recovered" : "unreachable",
    object: { type: "server", id: server.id },
    actor: theService,
  },
});
