// The source for all databases of a PostgreSQL server, with its roles.
import { countOf } from "../../../../contract/count-text.ts";
import type { Host } from "../../../hosts/host.ts";
import { readTarget, serverVersion, withClient, type Target } from "../postgres/connection.ts";
import { countRowsNow, isEmptyDatabase } from "../postgres/contents.ts";
import { withServer } from "../postgres/databases.ts";
import { checkPrivileges, tellNames } from "../postgres/privileges.ts";
import { tellRestorable } from "../postgres/restorable.ts";
import { drillArchive } from "../postgres/drill.ts";
import { findTools, toolsToDump, type Installations } from "../postgres/tools.ts";
import type { Source } from "../source.ts";
import { drillEach } from "../whole-server/drill.ts";
import { withPrefix } from "../whole-server/names.ts";
import { listDatabases, listLeft, lookAtAccount } from "./databases.ts";
import { dumpServer } from "./dump.ts";
import { refuseWithoutRights, restoreServer, settleServer } from "./restore.ts";
import { besideDatabases } from "./roles.ts";

type PostgresServerOptions = {
  host: Host;
  /** Name of the server, for people. */
  name: string;
  /** postgres://user:password@host:5432/database; a secret. The database is one that the account may connect to. */
  url: string;
  /** Folder on the machine of the host that holds each dump until it is complete. */
  spoolFolder: string;
  /** Whether its drills run on another server. */
  isDrilledElsewhere?: boolean;
  /** See `Target`. */
  installation?: string | undefined;
};

const lookLimitMs = 60_000;

/** @throws SourceError when the url cannot be used */
export function createPostgresServerSource({
  host,
  name,
  url,
  spoolFolder,
  isDrilledElsewhere = false,
  installation,
}: PostgresServerOptions): Source {
  const target: Target = { ...readTarget(name, url), machine: host, installation };
  /** The tools that the last rehearsal found, for the run that follows it. */
  let known: Installations | null = null;
  let tools: Record<string, string> = {};

  const list = (signal: AbortSignal): Promise<string[]> =>
    withServer(target, { applicationName: "quarterdeck", signal }, (client) =>
      listDatabases(client, target),
    );

  /** Returns the warnings about one database, for an account that is no superuser. @throws SourceError */
  const warningsOf = (database: string, signal: AbortSignal): Promise<string[]> => {
    const one = { ...target, database };
    return withClient(one, { applicationName: "quarterdeck", signal }, async (client) => {
      await checkPrivileges(client, one, (await serverVersion(client)).major);
      return tellRestorable(client, one, !isDrilledElsewhere);
    });
  };

  return {
    extension: "server.tar",
    tools: () => tools,

    async rehearse(signal) {
      const session = { applicationName: "quarterdeck", signal };
      const { names, account, version, left } = await withServer(
        target,
        session,
        async (client) => ({
          version: await serverVersion(client),
          names: await listDatabases(client, target),
          account: await lookAtAccount(client),
          left: await listLeft(client, target),
        }),
      );
      const warnings: string[] = [];
      if (left.length > 0)
        warnings.push(
          `A restore that was cut off left ${tellNames(left)}. A restore of the same backup removes them; or drop them.`,
        );
      if (!account.readsPasswords)
        warnings.push(
          `The backup lacks the passwords of roles, because ${target.user} may not read pg_authid. Use a superuser to have them.`,
        );
      if (!account.isSuperuser) {
        warnings.push(
          `A restore of the whole server would be refused: only a superuser can do that, and ${target.user} is none. Its databases can be restored one by one.`,
        );
        const warned: { database: string; warnings: string[] }[] = [];
        for (const database of names) {
          const found = await warningsOf(database, signal);
          if (found.length > 0) warned.push({ database, warnings: found });
        }
        const [first, ...others] = warned;
        if (first !== undefined)
          warnings.push(
            `Of the database ${first.database} alone:`,
            ...first.warnings,
            ...(others.length === 0
              ? []
              : [`Much the same holds for ${tellNames(others.map(({ database }) => database))}.`]),
          );
      }
      known = await findTools(host, signal);
      const dumping = toolsToDump(known.tools, version);
      tools = { PostgreSQL: version.text, pg_dump: dumping.version };
      const counted = countOf(names.length, "database");
      const answer = `PostgreSQL ${version.text} answers, with ${counted}; pg_dump ${dumping.version}.`;
      return [answer, ...warnings].join(" ");
    },

    dump(into, attempt) {
      const installations = known;
      known = null;
      return dumpServer(target, into, attempt, {
        installations:
          installations === null ? findTools(host, attempt.signal) : Promise.resolve(installations),
        spoolFolder,
      });
    },

    async exists() {
      await list(AbortSignal.timeout(lookLimitMs));
      return true;
    },

    async isEmpty(signal) {
      for (const database of await list(signal))
        if (!(await isEmptyDatabase({ ...target, database }, signal))) return false;
      return true;
    },

    async countRows(signal) {
      const counts: Record<string, number> = {};
      for (const database of await list(signal)) {
        const found = await countRowsNow({ ...target, database }, signal);
        if (found !== null) Object.assign(counts, withPrefix(database, found));
      }
      return counts;
    },

    refuseRestore: ({ signal }) =>
      refuseWithoutRights(target, { applicationName: "quarterdeck", signal }),

    isBuiltAside: false,

    restore: (from, attempt) => restoreServer(target, from, attempt),

    // In scratch databases on the same server.
    drill: (...drilled) =>
      drillEach(besideDatabases, drilled, (database, one) =>
        drillArchive({ ...target, database }, one),
      ),

    settle: (attempt) => settleServer(target, attempt),
  };
}
