// Queries of adopted backups and of their configurations.
import type { BackupableType } from "../../../contract/backups/backup.ts";
import type { Connection, Database } from "../../store/database.ts";
import {
  and,
  desc,
  eq,
  inArray,
  isNotNull,
  isNull,
  max,
  ne,
  or,
  sql,
} from "../../store/drizzle.ts";
import { insertRows } from "../../store/rows.ts";
import { backupConfigurations as configurations, backups } from "../../store/tables/backups.ts";
import { databases, sites } from "../../store/tables/inventory.ts";
import type { ConfigurationRow } from "../configuration-store.ts";

/** A database or a site of the inventory. */
type Target = { type: BackupableType; id: number };

type AdoptedRow = Required<
  Pick<
    typeof backups.$inferInsert,
    | "configuration_id"
    | "storage_provider_id"
    | "path"
    | "size"
    | "plain_size"
    | "checksum"
    | "manifest"
    | "output"
    | "started_at"
    | "ended_at"
    | "locked_until"
  >
>;

/** Two storage providers that share files: prefixes of the shared keys in this one and in the other. */
export type Sharing = { providerId: number; here: string; there: string };

/** Converts keys of other providers to the keys of the same files here. */
function keysHere(
  rows: readonly { path: string; providerId: number }[],
  sharing: readonly Sharing[],
): Set<string> {
  const byId = new Map(sharing.map((one) => [one.providerId, one]));
  return new Set(
    rows.flatMap(({ path, providerId }) => {
      const its = byId.get(providerId);
      return its !== undefined && path.startsWith(its.there)
        ? [its.here + path.slice(its.there.length)]
        : [];
    }),
  );
}

const isFullIn = (providerId: number, keys: readonly string[]) =>
  and(
    eq(backups.storage_provider_id, providerId),
    eq(backups.status, "finished"),
    isNull(backups.base_id),
    sql`${backups.path} = any(${sql.param([...keys])}::text[])`,
  );

/** Advisory lock for adding adopted backups, so that concurrent adoptions see each other's rows. */
const adoptionLock = 7_382_147;

export function createAdoptionStore(db: Database) {
  return {
    /** Runs steps in a transaction that holds the lock. */
    alone: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(${adoptionLock})`);
        return steps(tx);
      }),

    /** Returns the keys where backups of providers that share files have, or may have, their files. */
    async pathsIn(sharing: readonly Sharing[]): Promise<Set<string>> {
      const ids = sharing.map(({ providerId }) => providerId);
      const rows = await db
        .select({ path: backups.path, providerId: backups.storage_provider_id })
        .from(backups)
        .where(and(inArray(backups.storage_provider_id, ids), ne(backups.path, "")));
      return keysHere(rows, sharing);
    },

    /** Returns which of these keys belong to listed backups. */
    async knownPaths(
      tx: Connection,
      sharing: readonly Sharing[],
      keys: readonly string[],
    ): Promise<Set<string>> {
      const wanted = sharing.map(({ providerId, here, there }) => {
        const paths = keys
          .filter((key) => key.startsWith(here))
          .map((key) => there + key.slice(here.length));
        return and(
          eq(backups.storage_provider_id, providerId),
          sql`${backups.path} = any(${sql.param(paths)}::text[])`,
        );
      });
      const rows = await tx
        .select({ path: backups.path, providerId: backups.storage_provider_id })
        .from(backups)
        .where(or(...wanted));
      return keysHere(rows, sharing);
    },

    insert: (tx: Connection, rows: readonly AdoptedRow[]): Promise<void> =>
      insertRows(
        tx,
        backups,
        rows.map((row) => ({ ...row, trigger: "adopted", status: "finished" })),
      ),

    /** Returns which of these keys are finished fulls of this very provider, which adopted backups may need. */
    async fullsIn(
      tx: Connection,
      providerId: number,
      keys: readonly string[],
    ): Promise<Set<string>> {
      const rows = await tx
        .select({ path: backups.path })
        .from(backups)
        .where(isFullIn(providerId, keys));
      return new Set(rows.map(({ path }) => path));
    },

    /**
     * Stores which fulls the backups of a configuration need, by path, and locks the fulls until the transaction ends.
     * @returns whether all fulls exist; one may have been deleted meanwhile
     */
    async link(
      tx: Connection,
      { configurationId, providerId }: { configurationId: number; providerId: number },
      links: readonly { path: string; base: string }[],
    ): Promise<boolean> {
      const fulls = await tx
        .select({ id: backups.id, path: backups.path })
        .from(backups)
        .where(
          isFullIn(
            providerId,
            links.map(({ base }) => base),
          ),
        )
        .for("share");
      const there = new Set(fulls.map(({ path }) => path));
      if (!links.every(({ base }) => there.has(base))) return false;
      for (const { id, path } of fulls) {
        const needing = links.filter(({ base }) => base === path).map((one) => one.path);
        await tx
          .update(backups)
          .set({ base_id: id })
          .where(
            and(eq(backups.configuration_id, configurationId), inArray(backups.path, needing)),
          );
      }
      return true;
    },

    /** Locks an entry of the inventory until the transaction ends. @returns whether it exists */
    async holdTarget(tx: Connection, { type, id }: Target): Promise<boolean> {
      const table = type === "database" ? databases : sites;
      const found = await tx
        .select({ id: table.id })
        // A union of tables matches none of the overloads; both tables have an id.
        .from(table as typeof sites)
        .where(eq(table.id, id))
        .for("key share");
      return found.length > 0;
    },

    /**
     * Returns the configurations for adopted backups of a target, newest first, locked until the transaction ends, each with the start of
     * its newest backup.
     */
    async configurationsOf(
      tx: Connection,
      { type, id }: Target,
    ): Promise<{ configuration: ConfigurationRow; newestAt: Date | null }[]> {
      const target = type === "database" ? configurations.database_id : configurations.site_id;
      const rows = await tx
        .select()
        .from(configurations)
        .where(
          and(
            eq(target, id),
            isNotNull(configurations.adopted_at),
            // Configurations of imports are separate.
            sql`not exists (select from ${backups} where ${backups.configuration_id} = ${configurations.id} and ${backups.trigger} = 'import')`,
          ),
        )
        .orderBy(desc(configurations.id))
        .for("update");
      const newest = await tx
        .select({ id: backups.configuration_id, at: max(backups.started_at) })
        .from(backups)
        .where(
          inArray(
            backups.configuration_id,
            rows.map((row) => row.id),
          ),
        )
        .groupBy(backups.configuration_id);
      const newestOf = new Map(newest.map((one) => [one.id, one.at]));
      return rows.map((row) => ({ configuration: row, newestAt: newestOf.get(row.id) ?? null }));
    },
  };
}

export type AdoptionStore = ReturnType<typeof createAdoptionStore>;
