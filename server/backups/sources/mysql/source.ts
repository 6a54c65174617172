// The source for a MySQL or MariaDB database, which their own tools dump and load.
import type { Host } from "../../../hosts/host.ts";
import { createMysqlClient, quoteName, quoteText, readUrl } from "./client.ts";
import { countRowsNow } from "./contents.ts";
import { dumpMysql } from "./dump.ts";
import { tellForeignReferences } from "./foreign-keys.ts";
import { createMysqlIntake } from "./intake.ts";
import {
  leftoversIn,
  leftoversOfServer,
  namesLeft,
  refuseLeftovers,
  running,
  settleLeftovers,
} from "./leftovers.ts";
import { codes, MysqlError } from "./errors.ts";
import { createMysqlDrill } from "./load.ts";
import { namesOf } from "./plan.ts";
import { checkPrivileges } from "./privileges.ts";
import { createMysqlRestore } from "./restore.ts";
import { databaseTaken, SourceError, type Drill, type Source } from "../source.ts";

type MysqlSourceOptions = {
  host: Host;
  /** Name of the database in the inventory, for people. */
  name: string;
  /** mysql://user:password@host:3306/database; or mariadb://… */
  url: string;
  /** Folder of the plans of restores; not accessible to other accounts. */
  scratchFolder: string;
  /** A short form of the installation's id, see `namesOf`. */
  installation?: string | undefined;
  /** Whether a restore creates the database, and refuses one that exists. */
  isNew?: boolean;
  /** Whether the server may lack the accounts that views, routines and triggers run as. */
  isElsewhere?: boolean;
  /** The only tables that a restore replaces; null = everything. */
  tables?: readonly string[] | null;
};

const existsLimitMs = 30_000;

/** Creates a drill on a server that may lack the database. @param options `name` and `url` of that server */
export function createMysqlDrillOn({ host, name, url, ...of }: MysqlSourceOptions): Drill {
  const place = readUrl(name, url);
  const options = { client: createMysqlClient(host, place), isElsewhere: true, isAlone: true };
  return createMysqlDrill(options, (id) => namesOf(place, of, id));
}

/** @throws SourceError where the url is invalid */
export function createMysqlSource({
  host,
  name,
  url,
  scratchFolder,
  installation,
  isNew = false,
  isElsewhere = false,
  tables = null,
}: MysqlSourceOptions): Source {
  const place = readUrl(name, url);
  const client = createMysqlClient(host, place);
  const options = { client, isElsewhere };
  const of = { scratchFolder, installation };
  const namesFor = (id: number) => namesOf(place, of, id);

  const hasContent = async (): Promise<boolean> => {
    const database = quoteText(place.database);
    try {
      const [row] = await client.query(
        `SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${database}) + (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${database})`,
        { signal: AbortSignal.timeout(existsLimitMs) },
      );
      return row?.[0] !== "0";
    } catch (error) {
      if (error instanceof MysqlError && error.code === codes.unknownDatabase) return false;
      throw error;
    }
  };

  const isThere = async (): Promise<boolean> => {
    const named = `SCHEMA_NAME = ${quoteText(place.database)}`;
    const signal = AbortSignal.timeout(existsLimitMs);
    const sql = `SELECT 1 FROM information_schema.SCHEMATA WHERE ${named}`;
    return (await client.query(sql, { signal })).length > 0;
  };

  /** @throws SourceError where the database exists, even if it was created a moment ago */
  async function makeNew(signal: AbortSignal): Promise<void> {
    try {
      await client.query(`CREATE DATABASE ${quoteName(place.database)}`, { signal });
    } catch (error) {
      if (error instanceof MysqlError && error.code === codes.databaseTaken)
        throw databaseTaken({ name, database: place.database });
      throw error;
    }
  }

  /** Drops a database that a restore created and did not fill. */
  async function dropIfEmpty(): Promise<void> {
    if (await hasContent()) return;
    const signal = AbortSignal.timeout(existsLimitMs);
    await client.query(`DROP DATABASE IF EXISTS ${quoteName(place.database)}`, { signal });
  }

  let found: Record<string, string> = {};

  const leftovers = [...leftoversIn(options, of), ...leftoversOfServer(client, of)];

  return {
    extension: "sql",
    database: place.database,
    tools: () => found,

    async rehearse(signal) {
      const tools = await client.tools(signal);
      found = {
        [tools.isMariadb ? "MariaDB" : "MySQL"]: tools.serverVersion,
        [tools.dump.program]: tools.dump.version,
      };
      const lines: string[] = [];
      await settleLeftovers(scratchFolder, leftovers, (line) => lines.push(line), signal);
      const { warning } = await checkPrivileges(client, [], signal);
      const server = tools.isMariadb ? "MariaDB" : "MySQL";
      const { program, version } = tools.dump;
      const answer = `${server} ${tools.serverVersion} answers; ${program} ${version}.${warning}`;
      return [answer, ...lines].join(" ");
    },

    async warnings(signal) {
      const reason = await tellForeignReferences(client, place.database, signal);
      return reason === null ? [] : [`A restore would be refused: ${reason}`];
    },

    dump: (into, attempt) => dumpMysql(options, into, attempt),

    exists: isNew ? isThere : hasContent,

    countRows: (signal) => countRowsNow(client, signal),

    async refuseRestore({ signal }) {
      const reason = await tellForeignReferences(client, place.database, signal, tables);
      if (reason !== null) throw new SourceError(`Nothing was changed: ${reason}`);
    },

    isBuiltAside: false,

    async restore(from, attempt, manifest = null) {
      const names = namesFor(attempt.id);
      if (running.has(names.planFile))
        throw new SourceError(`Backup ${attempt.id} is being restored already.`);
      try {
        if (isNew) await makeNew(attempt.signal);
      } catch (error) {
        from.destroy();
        throw error;
      }
      running.add(names.planFile);
      try {
        await refuseLeftovers(scratchFolder, leftovers, attempt.say, attempt.signal);
        await createMysqlRestore(options, names, tables).restore(from, attempt, manifest);
      } catch (error) {
        from.destroy();
        if (isNew) await dropIfEmpty().catch((left: Error) => attempt.say(left.message));
        throw error;
      } finally {
        running.delete(names.planFile);
      }
    },

    intake: (file) => createMysqlIntake({ client, namesFor }, file),

    drill: createMysqlDrill(options, namesFor).drill,

    async settle(attempt) {
      const names = await namesLeft(of, (one) => namesOf(place, one, attempt.id));
      const state = await createMysqlRestore(options, names).settle(attempt);
      if (isNew && state !== "restored") await dropIfEmpty();
      return state;
    },
  };
}
