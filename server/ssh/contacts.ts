// Stores whether servers respond. A change is stored and reported in one transaction.
import { toTimestamp } from "../../contract/values.ts";
import { theService } from "../activity/actor.ts";
import type { Clock } from "../clock.ts";
import type { NewEvent } from "../events/event.ts";
import { recordEvent } from "../events/store.ts";
import type { Connection, Database } from "../store/database.ts";
import { eq } from "../store/drizzle.ts";
import { serverContacts } from "../store/tables/instances.ts";
import { servers } from "../store/tables/inventory.ts";

export type Contact = typeof serverContacts.$inferSelect;

/** A server and its address; null = the machine of an instance. */
type Contacted = { id: number; place: string | null };

export function createContacts({ db, clock }: { db: Database; clock: Clock }) {
  return {
    /** @returns null for a server that was not checked yet */
    async of(id: number): Promise<Contact | null> {
      const rows = await db.select().from(serverContacts).where(eq(serverContacts.server_id, id));
      return rows[0] ?? null;
    },

    /** Returns all contacts, by id of the server. */
    async all(): Promise<Map<number, Contact>> {
      return new Map((await db.select().from(serverContacts)).map((row) => [row.server_id, row]));
    },

    /**
     * Stores whether a server responds, and records an event when that has changed.
     * @param reason why it does not respond; null = it does
     * @param also runs first, in the same transaction
     * @returns null where the server's entry is gone, or not stored yet
     */
    note: (
      server: Contacted,
      reason: string | null,
      also: (tx: Connection) => Promise<void> = async () => undefined,
    ): Promise<{ contact: Contact; isReached: boolean } | null> =>
      db.transaction(async (tx) => {
        // Serializes calls for a server by locking the server's row, because there may be no contact row yet.
        const [row] = await tx
          .select()
          .from(servers)
          .where(eq(servers.id, server.id))
          .for("no key update");
        if (row === undefined) return null;
        await also(tx);
        const [before] = await tx
          .select()
          .from(serverContacts)
          .where(eq(serverContacts.server_id, server.id));
        const isSame = before?.reachable === (reason === null);
        if (before !== undefined && isSame && before.reason === reason)
          return { contact: before, isReached: false };
        const now = new Date(clock.now());
        // A server over SSH that never responded was not lost. The machine of an instance counts as reachable before.
        const wasThere = before?.reachable ?? server.place === null;
        const isLost = wasThere && reason !== null;
        const contact: Contact = {
          server_id: server.id,
          reachable: reason === null,
          since: isSame ? before.since : now,
          reason,
          is_reported: reason !== null && (isLost || before?.is_reported === true),
        };
        await tx
          .insert(serverContacts)
          .values(contact)
          .onConflictDoUpdate({ target: serverContacts.server_id, set: contact });
        const named = { ...server, name: row.name };
        if (isLost) await recordEvent(tx, contactEvent(named, contact, now));
        else if (reason === null && before?.is_reported === true)
          await recordEvent(tx, contactEvent(named, contact, before.since));
        return { contact, isReached: reason === null && !isSame };
      }),
  };
}

const contactEvent = (
  server: Contacted & { name: string },
  contact: Contact,
  since: Date,
): NewEvent => ({
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
    facts: server.place === null ? [] : [["Address", server.place]],
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
