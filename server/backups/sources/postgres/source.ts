// The source for a PostgreSQL database, which PostgreSQL's own tools dump and restore.
import type { Host } from "../../../hosts/host.ts";
import { placeOf } from "../../../postgres/address.ts";
import {
  ownName,
  readTarget,
  serverVersion,
  withClient,
  type Session,
  type Target,
} from "./connection.ts";
import {
  createDatabase,
  dropDatabase,
  dropLimitMs,
  endLimitMs,
  markMade,
  endSessions,
  isMarked,
  isMissingDatabase,
  isOwnDatabase,
  isTaken,
  whyNotOwn,
  withServer,
} from "./databases.ts";
import { drillArchive, drillDatabaseOf } from "./drill.ts";
import { dumpDatabase } from "./dump.ts";
import { createPostgresIntake } from "./intake.ts";
import { checkPrivileges } from "./privileges.ts";
import { countRowsNow, isEmptyDatabase } from "./contents.ts";
import { readProperties, withoutRoles } from "./properties.ts";
import { restoreTables } from "./restore-tables.ts";
import { defaultLockWaitMs, openBackup, restoreArchive } from "./restore.ts";
import { tellRestorable } from "./restorable.ts";
import { whySubscribed } from "./subscriptions.ts";
import { findTools, toolsToDump, type Installations } from "./tools.ts";
import { databaseTaken, SourceError, type Source } from "../source.ts";

export type PostgresSourceOptions = {
  host: Host;
  /** Name of the database, for people. */
  name: string;
  /** postgres://user:password@host:5432/database?sslmode=…; a secret. */
  url: string;
  /** How long a restore waits for the locks of a session that uses the database. */
  lockWaitMs?: number;
  /** Whether its drills run on another server. */
  isDrilledElsewhere?: boolean;
  /** See `Target`. */
  installation?: string | undefined;
  /** Whether a restore creates the database, and refuses one that exists. */
  isNew?: boolean;
  /** Whether restored objects belong to the account instead of their former owners. */
  isWithoutRoles?: boolean;
  /** The only tables that a restore replaces, as `schema.table`; null = everything. */
  tables?: readonly string[] | null;
};

/** How long cleaning up after a restore may take: ending its sessions, and dropping the database that it made. */
const tidyLimitMs = endLimitMs + dropLimitMs;
const existsLimitMs = 60_000;

/** @throws SourceError when the url cannot be used */
export function createPostgresSource({
  host,
  name,
  url,
  lockWaitMs,
  isDrilledElsewhere = false,
  installation,
  isNew = false,
  isWithoutRoles = false,
  tables: wanted = null,
}: PostgresSourceOptions): Source {
  const target: Target = { ...readTarget(name, url), machine: host, installation };
  /** A database cannot be dropped over a connection to it. */
  const beside = { ...target, database: "postgres" };
  const lockOptions = lockWaitMs === undefined ? {} : { lockWaitMs };
  /** Also the mark of a database that the restore created, which the prologue's SQL matches. */
  const restoreName = (id: number) => ownName(target, ["restore", id]);

  /** The tools that were found last, for the run or restore that follows. */
  let known: Installations | null = null;
  let tools: Record<string, string> = {};
  const installed = async (signal: AbortSignal) => known ?? findTools(host, signal);

  const dump = (isCompressed: boolean, [into, attempt]: Parameters<Source["dump"]>) => {
    const installations = installed(attempt.signal);
    known = null;
    return dumpDatabase(host, target, into, attempt, { installations, isCompressed });
  };

  const exists = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await withClient(target, { applicationName: "quarterdeck", signal }, async () => undefined);
      return true;
    } catch (error) {
      if (isMissingDatabase(error)) return false;
      throw error;
    }
  };

  const refuseOwn = async (session: Session): Promise<void> => {
    if (await withClient(target, session, (client) => isOwnDatabase(client, target)))
      throw new SourceError(`Nothing was changed: ${whyNotOwn}.`);
  };

  const refuseSubscriber = async (session: Session): Promise<void> => {
    const why = await withClient(target, session, whySubscribed);
    if (why !== null) throw new SourceError(`Nothing was changed: ${why}`);
  };

  const restore = async (
    isPacked: boolean,
    [from, attempt, manifest = null]: Parameters<Source["restore"]>,
  ) => {
    const applicationName = restoreName(attempt.id);
    const session = { applicationName, signal: attempt.signal };
    let isMade = false;
    try {
      const installations = known ?? undefined;
      known = null;
      const backup = await openBackup({ host, isPacked }, from, attempt.signal, installations);
      let properties: string[] = [];
      const isThere = await exists(attempt.signal);
      if (isThere && isNew) throw databaseTaken(target);
      if (isThere) await refuseOwn(session);
      if (wanted !== null) {
        const counts = manifest?.kind === "database" ? manifest.tables : {};
        await restoreTables(host, target, applicationName, backup, attempt, {
          wanted,
          counts,
          lockWaitMs: lockWaitMs ?? defaultLockWaitMs,
          isWithoutRoles,
        });
        from.destroy();
        return;
      }
      if (isThere) await refuseSubscriber(session);
      else {
        const { tools, archive } = backup;
        const own = await readProperties(tools, archive, target.database, attempt.signal);
        properties = isWithoutRoles ? withoutRoles(own.statements) : own.statements;
        await withServer(target, session, async (client) => {
          isMade = true;
          await createDatabase(client, target, target.database, {
            why: `PostgreSQL at ${placeOf(target)} has no database ${target.database}`,
            clauses: own.clauses,
            say: attempt.say,
          }).catch((error: unknown) => {
            if (!isTaken(error)) throw error;
            // Another session has created it meanwhile, so this failure must not drop it.
            isMade = false;
            throw isNew ? databaseTaken(target) : error;
          });
          await markMade(client, target.database, applicationName);
          attempt.say(`Created the database ${target.database}.`);
        });
      }
      await restoreArchive(host, target, applicationName, backup, attempt, {
        ...lockOptions,
        properties,
        isWithoutRoles,
      });
      from.destroy();
    } catch (error) {
      from.destroy();
      // The server may still run what psql sent. The failure is reported once that is rolled back.
      const tidy = { applicationName: "quarterdeck", signal: AbortSignal.timeout(tidyLimitMs) };
      await withServer(isMade ? beside : target, tidy, async (client) => {
        await endSessions(client, target, applicationName, tidy.signal);
        if (isMade) await dropDatabase(client, target.database);
      }).catch((reason: Error) => attempt.say(reason.message));
      attempt.signal.throwIfAborted();
      throw error;
    }
  };

  return {
    extension: "dump",
    database: target.database,
    tools: () => tools,

    async rehearse(signal) {
      const session = { applicationName: "quarterdeck", signal };
      const finding = findTools(host, signal);
      // An error of the server is reported first.
      finding.catch(() => undefined);
      const { warnings, ...server } = await withClient(target, session, async (client) => {
        const version = await serverVersion(client);
        await checkPrivileges(client, target, version.major);
        const warnings = await tellRestorable(client, target, !isDrilledElsewhere);
        if (await isOwnDatabase(client, target))
          warnings.push(`A restore would be refused: ${whyNotOwn}.`);
        return { ...version, warnings };
      });
      known = await finding;
      const { version } = toolsToDump(known.tools, server);
      tools = { PostgreSQL: server.text, pg_dump: version };
      const answer = `PostgreSQL ${server.text} answers; pg_dump ${version}.`;
      return [answer, ...warnings].join(" ");
    },

    dump: (...args) => dump(false, args),

    async compressed(signal, use) {
      if (use?.isUnpacked === true && !host.isRemote) return null;
      if (!(await installed(signal)).hasZstd) return null;
      return {
        content: "other",
        async dump(...args) {
          const manifest = await dump(true, args);
          return () => manifest;
        },
      };
    },

    exists: () => exists(AbortSignal.timeout(existsLimitMs)),
    isEmpty: (signal) => isEmptyDatabase(target, signal),

    async refuseRestore({ signal }) {
      if (!(await exists(signal))) return;
      const session = { applicationName: "quarterdeck", signal };
      await refuseOwn(session);
      if (wanted === null) await refuseSubscriber(session);
    },

    countRows: (signal) => countRowsNow(target, signal),

    isBuiltAside: false,

    restore: (...args) => restore(false, args),

    async unpacking(signal) {
      known = await findTools(host, signal);
      return known.hasZstd ? { restore: (...args) => restore(true, args) } : null;
    },

    intake: (file) => createPostgresIntake(target, file),

    drill: (...drilled) => drillArchive(target, drilled, { isWithoutRoles }),

    async settle(attempt) {
      const session = { applicationName: "quarterdeck", signal: attempt.signal };
      const isHalf = await withServer(target, session, async (client) => {
        await endSessions(client, target, restoreName(attempt.id), attempt.signal);
        await dropDatabase(client, drillDatabaseOf(target, attempt.id));
        // The marks of an earlier version lack the installation.
        const marks = [restoreName(attempt.id), ownName({}, ["restore", attempt.id])];
        return isMarked(client, target.database, marks);
      });
      // In a database that existed before, neither a rolled-back transaction nor a committed one leaves a trace.
      if (!isHalf) return "unknown";
      await withServer(beside, session, (client) => dropDatabase(client, target.database));
      return "as it was";
    },
  };
}
