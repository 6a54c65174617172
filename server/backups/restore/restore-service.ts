// The rules of restores: what may be restored into what, and when. The restore itself is a task in the queue of the target's server.
import { canBackup } from "../../../contract/backups/backup.ts";
import { engineInServer } from "../../../contract/backups/engines.ts";
import { tablePrefixOf } from "../../../contract/backups/server-tables.ts";
import type { RestoreIntoBody } from "../../../contract/backups/bodies.ts";
import type { FieldErrors } from "../../../contract/errors.ts";
import { recordActivity } from "../../activity/store.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import type { Caller } from "../../http/route.ts";
import { conflict } from "../../http/service-error.ts";
import type { DatabaseRow, SiteRow } from "../../inventory/store.ts";
import type { RestoreDestination } from "../../jobs/job-data.ts";
import type { Connection } from "../../store/database.ts";
import type { RestoreTarget } from "../../store/tables/backups.ts";
import { createAddTasks, type AddTasksOptions } from "../tasks/add-tasks.ts";
import { backupEntry, targetInWords } from "../event-data.ts";
import { taskNames } from "../backup-service.ts";
import type { BackupRow, BackupStore } from "../backup-store.ts";
import type { Chain, FileKeyPair } from "../incremental/chain.ts";
import type { ConfigurationRow, ConfigurationStore } from "../configuration-store.ts";
import type { FileKeys } from "../file-keys.ts";
import { createLockBoth } from "../lock-both.ts";
import { asConflict, createOpenStored, identityMissing, type GivenFields } from "../open-stored.ts";
import type { Resolver } from "../resolver.ts";
import { refuseUnsaved } from "./restore-destination.ts";
import { whyNotInto, whyNotTables } from "./restore-fits.ts";
import type { TaskStore } from "../tasks/task-store.ts";
import { columnsOf, engineOf, nameOf } from "../subject.ts";

type RestoreServiceOptions = AddTasksOptions & {
  store: BackupStore;
  configurations: ConfigurationStore;
  tasks: TaskStore;
  resolver: Pick<Resolver, "storage" | "destination">;
  chain: Pick<Chain, "baseOf">;
  fileKeys: FileKeys;
  /** Called where the file of a backup that counts as good turns out missing or damaged. */
  onDamage: (row: BackupRow) => Promise<void>;
};

type Target = DatabaseRow | SiteRow;
type Into = { target: RestoreTarget; destination: RestoreDestination };

/** Limit for checking whether a target is empty. */
const lookMs = 20_000;

const isWholeServer = (target: Target): boolean => engineInServer(engineOf(target)) !== null;

export function createRestoreService(options: RestoreServiceOptions) {
  const { store, configurations, tasks, resolver, fileKeys } = options;
  const { addTask } = createAddTasks(options);
  const { openFile } = createOpenStored(options);
  const lockBoth = createLockBoth(options);

  /** @throws a conflict */
  async function refuseBusy(
    tx: Connection,
    row: BackupRow,
    target: Pick<ConfigurationRow, "type" | "database_id" | "site_id">,
  ): Promise<void> {
    if (!canBackup.restore(row))
      throw conflict(`Only a finished backup can be restored. The backup is ${row.status}.`);
    await tasks.lockTarget(tx, target);
    const busy = [...(await tasks.ofTarget(tx, target)), ...(await tasks.ofBackup(tx, row.id))];
    // A copy only reads the stored file.
    const other = busy.find(({ kind }) => kind !== "verify" && kind !== "copy");
    if (other !== undefined)
      throw conflict(
        other.backup_id === row.id
          ? `The backup is already ${taskNames[other.kind]}. Restore once that is done.`
          : `The ${target.type} is ${taskNames[other.kind]}. Restore once that is done.`,
      );
  }

  /** Stores the requested restore and its task. */
  async function begin(
    tx: Connection,
    { row, configuration }: { row: BackupRow; configuration: ConfigurationRow },
    {
      skipsSafetyBackup,
      keys,
      into,
    }: { skipsSafetyBackup: boolean; keys: FileKeyPair | null; into: Into | null },
  ): Promise<BackupRow> {
    const change = {
      restore_status: "running",
      restore_output: "",
      restored_at: null,
      restore_target: into?.target ?? null,
    } as const;
    await store.update(tx, row.id, change);
    const on = into === null ? configuration : into.target;
    const ids = await addTask(tx, on, row.id, "restore", {
      skip_safety_backup: skipsSafetyBackup,
      destination: into?.destination ?? null,
    });
    // Before the transaction ends, because the task may begin a moment later.
    if (keys !== null) for (const id of ids) fileKeys.keep(id, keys);
    const details = [
      ...(into === null
        ? []
        : [`${into.target.part == null ? "Into" : "Only"} ${targetInWords(into.target)}.`]),
      ...(skipsSafetyBackup ? ["Without a backup of current data."] : []),
    ];
    const more = details.length === 0 ? {} : { detail: details.join(" ") };
    await recordActivity(tx, backupEntry(configuration, row, "asked to restore", more));
    return { ...row, ...change };
  }

  const identityComplaint = (row: BackupRow, { identity = "" }: GivenFields): FieldErrors =>
    isEncrypted(row.path) && canBackup.restore(row) && identity.trim() === ""
      ? { identity: [identityMissing] }
      : {};

  /** @throws a conflict where data of the target would be lost */
  async function lookAtTarget(destination: RestoreDestination, name: string): Promise<void> {
    const { database } = destination;
    if (database === null && (await configurations.saverOf(destination)) !== null) return;
    try {
      const source = await resolver.destination(destination);
      await refuseUnsaved(source, { database, name }, AbortSignal.timeout(lookMs));
    } catch (error) {
      asConflict(error);
    }
  }

  return {
    /** Checks the fields of a restore. Returns errors by field. */
    check: identityComplaint,

    /**
     * Queues a restore into the backup's own source.
     * @param skipsSafetyBackup whether the present data is lost, without a safety backup
     * @param given opens an encrypted backup; only the key of this file is kept, in memory
     * @throws a conflict, or InvalidFields
     */
    async restore(
      found: BackupRow,
      skipsSafetyBackup: boolean,
      given: GivenFields,
    ): Promise<BackupRow> {
      const keys = canBackup.restore(found) ? await openFile(found, given) : null;
      return store.transaction(async (tx) => {
        const both = await lockBoth(tx, found);
        await refuseBusy(tx, both.row, both.configuration);
        return begin(tx, both, { skipsSafetyBackup, keys, into: null });
      });
    },

    /** Checks a restore into another target. Returns errors by field. */
    async checkInto(
      target: Target,
      { backup_id: id, database, from_database: part, tables, ...given }: Partial<RestoreIntoBody>,
      reaches: Caller["reaches"],
    ): Promise<FieldErrors> {
      const named: FieldErrors =
        database != null && engineOf(target) === "sqlite"
          ? {
              database: [
                "A SQLite database is a file: add it to the inventory, and choose it there.",
              ],
            }
          : {};
      if (tables != null && database != null) named["tables"] = [tablesIntoNew];
      else if (tables != null && isWholeServer(target) && part == null)
        named["tables"] = [tablesOfServer];
      if (id === undefined) return named;
      const found = await store.withConfiguration(id);
      if (found === null || !reaches(found.configuration.server_id))
        return {
          ...named,
          backup_id: [`Backup ${id} doesn't exist. It may have been deleted.`],
        };
      return {
        ...whyNotTables(found.backup, { tables, part }),
        ...named,
        ...identityComplaint(found.backup, given),
        ...whyNotInto(found.backup, target, { database, part, keeps: given.keep_owners }),
      };
    },

    /**
     * Queues a restore into an entry of the inventory, or into a database that the restore creates on its server.
     * @throws a conflict, or InvalidFields
     */
    async restoreInto(
      target: Target,
      {
        backup_id: id,
        database = null,
        from_database: fromDatabase,
        keep_owners: keeps,
        tables,
        path,
        skip_safety_backup: skips,
        ...given
      }: RestoreIntoBody,
    ): Promise<BackupRow> {
      const both = await store.withConfiguration(id);
      if (both === null) throw conflict("The backup no longer exists.");
      const { backup: found, configuration } = both;
      const columns = columnsOf(target);
      // Tables that are restored into their own database keep their owners.
      const isBack =
        tables != null &&
        columns.database_id !== null &&
        columns.database_id === configuration.database_id;
      const type = columns.site_id === null ? "database" : "site";
      const name = nameOf(target);
      const isServer = isWholeServer(target);
      const destination = {
        ...columns,
        database,
        // A whole server's backup contains the roles or accounts of its databases.
        keeps_owners: keeps ?? (database !== null || isBack || isServer),
        ...(fromDatabase != null && { from_database: fromDatabase }),
        ...(tables != null && { tables }),
        ...(path != null && { path }),
      };
      // A database out of a whole server is a part of another one, and everything in a new one or in an entry of its own.
      const from = isServer && database === null ? (fromDatabase ?? null) : null;
      const prefix = from === null ? "" : tablePrefixOf(from);
      const part = tables?.map((table) => prefix + table).join(", ") ?? path ?? from;
      const skipsSafetyBackup = skips === true && database === null;
      const keys = canBackup.restore(found) ? await openFile(found, given) : null;
      if (!skipsSafetyBackup && canBackup.restore(found)) await lookAtTarget(destination, name);
      return store.transaction(async (tx) => {
        const locked = await lockBoth(tx, found);
        await refuseBusy(tx, locked.row, { type, ...columns });
        const into = {
          target: {
            type,
            id: target.id,
            name,
            server_id: target.serverId,
            database,
            part,
            safety_backup_id: null,
          },
          destination,
        } as const;
        return begin(tx, locked, { skipsSafetyBackup, keys, into });
      });
    },
  };
}

export type RestoreService = ReturnType<typeof createRestoreService>;

const tablesIntoNew =
  "Single tables are restored into a database that is there. Leave out the database field, or restore everything.";

const tablesOfServer =
  "The backup contains all databases of a server. Choose the one that the tables are of.";
