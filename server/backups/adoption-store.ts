// The rows of adopted backups, and of the configurations that they are listed below.
import type { BackupableType } from "../../contract/backups/backup.ts";
import type { Connection, Database } from "../store/database.ts";
import { and, desc, eq, inArray, isNotNull, max, ne, sql } from "../store/drizzle.ts";
import { insertRows } from "../store/rows.ts";
import {
  backupConfigurations as configurations,
  backups,
  databases,
  sites,
} from "../store/tables.ts";
import type { ConfigurationRow } from "./configuration-store.ts";

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
  >
>;

/** Whoever adds adopted backups waits for who does so already, so that each finds what the other has added. */
const adoptionLock = 7_382_147;

export function createAdoptionStore(db: Database) {
  return {
    /** Runs several steps as one, while nobody else does. */
    alone: <Result>(steps: (tx: Connection) => Promise<Result>): Promise<Result> =>
      db.transaction(async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(${adoptionLock})`);
        return steps(tx);
      }),

    /** Where the files of all backups in storages are, or may be. */
    async pathsIn(providerIds: readonly number[]): Promise<Set<string>> {
      const rows = await db
        .select({ path: backups.path })
        .from(backups)
        .where(and(inArray(backups.storage_provider_id, [...providerIds]), ne(backups.path, "")));
      return new Set(rows.map(({ path }) => path));
    },

    /** Which of these are there. */
    async knownPaths(
      tx: Connection,
      providerIds: readonly number[],
      paths: readonly string[],
    ): Promise<Set<string>> {
      const rows = await tx
        .select({ path: backups.path })
        .from(backups)
        .where(
          and(
            inArray(backups.storage_provider_id, [...providerIds]),
            sql`${backups.path} = any(${sql.param([...paths])}::text[])`,
          ),
        );
      return new Set(rows.map(({ path }) => path));
    },

    insert: (tx: Connection, rows: readonly AdoptedRow[]): Promise<void> =>
      insertRows(
        tx,
        backups,
        rows.map((row) => ({ ...row, trigger: "adopted", status: "finished" })),
      ),

    /** Holds an entry of the inventory until the transaction ends. @returns whether it is there */
    async holdTarget(tx: Connection, { type, id }: Target): Promise<boolean> {
      const table = type === "database" ? databases : sites;
      const found = await tx
        .select({ id: table.id })
        // The overloads of a union of tables do not meet; an id stands in both.
        .from(table as typeof sites)
        .where(eq(table.id, id))
        .for("key share");
      return found.length > 0;
    },

    /**
     * The configurations that were made for adopted backups of a target, newest first, locked until the transaction ends, each
     * with the moment at which its newest backup began.
     */
    async configurationsOf(
      tx: Connection,
      { type, id }: Target,
    ): Promise<{ configuration: ConfigurationRow; newestAt: Date | null }[]> {
      const target = type === "database" ? configurations.database_id : configurations.site_id;
      const rows = await tx
        .select()
        .from(configurations)
        .where(and(eq(target, id), isNotNull(configurations.adopted_at)))
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
