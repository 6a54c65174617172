// The highest id that each kind of entry ever had. Ids are never reused, because backups, the timeline and tokens may still refer
// to the old entry.
import type { InventoryKind } from "../../contract/inventory/entries.ts";
import type { Connection, Database } from "../store/database.ts";
import { eq, sql } from "../store/drizzle.ts";
import { settings } from "../store/tables/installation.ts";

const keyOf = (kind: InventoryKind) => `highest_id_of_${kind}`;

export const createHighestIds = (db: Database) => ({
  /** Returns 0 where no id was stored yet. */
  async of(kind: InventoryKind): Promise<number> {
    const [row] = await db
      .select()
      .from(settings)
      .where(eq(settings.key, keyOf(kind)));
    // `note` only writes numbers.
    return row === undefined ? 0 : Number(row.value);
  },

  async note(tx: Connection, kind: InventoryKind, id: number): Promise<void> {
    await tx
      .insert(settings)
      .values({ key: keyOf(kind), value: String(id) })
      .onConflictDoUpdate({
        target: settings.key,
        set: { value: sql`greatest(${settings.value}::int, excluded.value::int)::text` },
      });
  },
});

export type HighestIds = ReturnType<typeof createHighestIds>;
