import { and, eq, gt, isNotNull, isNull, ne, or, sql } from "../store/drizzle.ts";
import { recordActivity, type NewActivity } from "../activity/store.ts";
import { listFilters } from "../http/list-filters.ts";
import type { Connection, Database } from "../store/database.ts";
import { createFilteredRows, type ListRequest } from "../store/filtered-rows.ts";
import { insertedRow } from "../store/rows.ts";
import { tokens } from "../store/tables/tokens.ts";

export type TokenRow = typeof tokens.$inferSelect;
type NewTokenRow = Pick<TokenRow, "name" | "hash" | "abilities"> & Partial<TokenRow>;

export function createTokenStore(db: Database) {
  const readList = createFilteredRows(db, tokens, listFilters.listTokens, {
    id: tokens.id,
    search: [tokens.name],
    status: null,
    sorts: { name: sql`lower(${tokens.name})` },
  });
  // Prepared once, because every request runs it.
  const selectById = db
    .select()
    .from(tokens)
    .where(eq(tokens.id, sql.placeholder("id")))
    .prepare("token_by_id");
  const selectByHash = db
    .select()
    .from(tokens)
    .where(eq(tokens.hash, sql.placeholder("hash")))
    .prepare("token_by_hash");

  return {
    list: (page: ListRequest) => readList(undefined, page),

    async byId(id: number): Promise<TokenRow | null> {
      const [row] = await selectById.execute({ id });
      return row ?? null;
    },

    async byHash(hash: string): Promise<TokenRow | null> {
      const [row] = await selectByHash.execute({ hash });
      return row ?? null;
    },

    /** Whether an owner can sign in: with a token of ability `*` for all servers that has been used and has not expired. */
    async hasUsedOwner(now: Date): Promise<boolean> {
      const [row] = await db
        .select({ id: tokens.id })
        .from(tokens)
        .where(
          and(
            sql`'*' = any(${tokens.abilities})`,
            isNull(tokens.server_ids),
            isNotNull(tokens.last_used_at),
            or(isNull(tokens.expires_at), gt(tokens.expires_at, now)),
          ),
        )
        .limit(1);
      return row !== undefined;
    },

    transaction: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(steps),

    /**
     * Locks a token, so that it is not revoked before the transaction ends.
     * @returns null where it is revoked
     */
    async hold(tx: Connection, id: number): Promise<TokenRow | null> {
      const [row] = await tx.select().from(tokens).where(eq(tokens.id, id)).for("share");
      return row ?? null;
    },

    async insert(tx: Connection, values: NewTokenRow): Promise<TokenRow> {
      const row = insertedRow(await tx.insert(tokens).values(values).returning());
      await recordActivity(tx, entryOf(row, "created"));
      return row;
    },

    remove: (id: number): Promise<void> =>
      db.transaction(async (tx) => {
        const [row] = await tx.delete(tokens).where(eq(tokens.id, id)).returning();
        if (row !== undefined) await recordActivity(tx, entryOf(row, "revoked"));
      }),

    async touch(id: number, usedAt: Date): Promise<void> {
      await db.update(tokens).set({ last_used_at: usedAt }).where(eq(tokens.id, id));
    },

    /** Replaces the token of the environment with the one that it names now. */
    async replaceFromEnvironment(values: NewTokenRow): Promise<void> {
      await db.transaction(async (tx) => {
        // An unchanged token keeps its row: other instances know it by its id, and links may refer to it.
        await tx
          .delete(tokens)
          .where(and(eq(tokens.from_environment, true), ne(tokens.hash, values.hash)));
        await tx
          .insert(tokens)
          .values({ ...values, from_environment: true })
          .onConflictDoNothing();
      });
    },

    async removeFromEnvironment(): Promise<void> {
      await db.delete(tokens).where(eq(tokens.from_environment, true));
    },
  };
}

export type TokenStore = ReturnType<typeof createTokenStore>;

const entryOf = ({ id, name, abilities }: TokenRow, action: string): NewActivity => ({
  kind: "token",
  action,
  object: { type: "token", id, name },
  server_id: null,
  detail: `Permissions: ${abilities.includes("*") ? "everything" : "read"}.`,
});
