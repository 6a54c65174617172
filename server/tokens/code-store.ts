// The code of a first sign-in, as it is stored: its hash, and what became of it. There is one at the most.
import type { Connection, Database } from "../store/database.ts";
import { and, eq } from "../store/drizzle.ts";
import { settings } from "../store/tables.ts";

export type StoredCode = {
  /** Hex SHA-256. */
  hash: string;
  expiresMs: number;
  /** It stays after its use, so that a second use gets the reason why it does not work. */
  isUsed: boolean;
  /** What the token is called that it is exchanged for, where that is not the first one. */
  tokenName?: string;
};

const key = "sign_in_code";

export function createCodeStore(db: Database) {
  return {
    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    /** Puts a code in place of the one before it. */
    async put(code: StoredCode): Promise<void> {
      const value = JSON.stringify(code);
      await db
        .insert(settings)
        .values({ key, value })
        .onConflictDoUpdate({ target: settings.key, set: { value } });
    },

    async find(): Promise<StoredCode | null> {
      const [row] = await db.select().from(settings).where(eq(settings.key, key));
      // Written by `put` alone.
      return row === undefined ? null : (JSON.parse(row.value) as StoredCode);
    },

    /** @returns whether it was still to be used: of two that come at once, one gets true */
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
