// Stores the sign-in code: its hash, its expiry, and whether it was used. There is at most one.
import type { Connection, Database } from "../store/database.ts";
import { and, eq } from "../store/drizzle.ts";
import { settings } from "../store/tables/installation.ts";

export type StoredCode = {
  /** Hex SHA-256. */
  hash: string;
  expiresMs: number;
  /** A used code stays stored, so that a second use is refused with the reason. */
  isUsed: boolean;
  /** Name of the token that the code is exchanged for; absent for the first sign-in. */
  tokenName?: string;
};

const key = "sign_in_code";

export function createCodeStore(db: Database) {
  return {
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    /** Stores a code, and replaces the previous one. */
    async put(code: StoredCode): Promise<void> {
      const value = JSON.stringify(code);
      await db
        .insert(settings)
        .values({ key, value })
        .onConflictDoUpdate({ target: settings.key, set: { value } });
    },

    async find(): Promise<StoredCode | null> {
      const [row] = await db.select().from(settings).where(eq(settings.key, key));
      // Only this store writes the value.
      return row === undefined ? null : (JSON.parse(row.value) as StoredCode);
    },

    /** Marks a code as used. @returns whether it was unused: of two simultaneous calls, only one gets true */
    async use(tx: Connection, code: StoredCode): Promise<boolean> {
      const changed = await tx
        .update(settings)
        .set({ value: JSON.stringify({ ...code, isUsed: true }) })
        .where(and(eq(settings.key, key), eq(settings.value, JSON.stringify(code))))
        .returning({ key: settings.key });
      return changed.length > 0;
    },
  };
}

export type CodeStore = ReturnType<typeof createCodeStore>;
