// The source for all databases of a MySQL or MariaDB server, with its accounts.
import { countOf } from "../../../../contract/count-text.ts";
import type { Host } from "../../../hosts/host.ts";
import { clientOf, createMysqlClient, readServerUrl } from "../mysql/client.ts";
import { countRowsNow } from "../mysql/contents.ts";
import {
  leftoversIn,
  leftoversOfServer,
  namesLeft,
  refuseLeftovers,
  running,
  settleLeftovers,
} from "../mysql/leftovers.ts";
import { createMysqlDrill } from "../mysql/load.ts";
import { checkPrivileges, mayRestore, readAccount } from "../mysql/privileges.ts";
import { SourceError, type Source } from "../source.ts";
import { drillEach } from "../whole-server/drill.ts";
import { withPrefix } from "../whole-server/names.ts";
import { besideDatabases } from "./accounts.ts";
import { holdsNothing, listDatabases, makesAccounts, readsAllOf, tellUnseen } from "./databases.ts";
import { dumpServer } from "./dump.ts";
import { serverNamesOf } from "./plan.ts";
import { createServerRestore, tellRights } from "./restore.ts";

type MysqlServerOptions = {
  host: Host;
  /** Name of the server, for people. */
  name: string;
  /** mysql://user:password@host:3306; or mariadb://… A secret. */
  url: string;
  /** Folder of the plans of restores; not accessible to other accounts. */
  scratchFolder: string;
  /** A short form of the installation's id, see `namesOf`. */
  installation?: string | undefined;
};

const lookLimitMs = 60_000;

/** @throws SourceError when the url cannot be used */
export function createMysqlServerSource({
  host,
  name,
  url,
  scratchFolder,
  installation,
}: MysqlServerOptions): Source {
  const place = readServerUrl(name, url);
  const client = createMysqlClient(host, place);
  const of = { scratchFolder, installation };
  const namesFor = (id: number) => serverNamesOf(place, of, id);
  let found: Record<string, string> = {};

  /** Leftovers of restores of the server, and of those of its single databases. */
  const leftoversBeside = (databases: readonly string[]) => [
    ...leftoversOfServer(client, of, name),
    ...databases.flatMap((database) => leftoversIn({ client: clientOf(client, database) }, of)),
  ];

  return {
    extension: "mysql-server.tar",
    tools: () => found,

    async rehearse(signal) {
      const { isMariadb, serverVersion, dump } = await client.tools(signal);
      const server = isMariadb ? "MariaDB" : "MySQL";
      found = { [server]: serverVersion, [dump.program]: dump.version };
      const lines: string[] = [];
      const leftovers = leftoversBeside((await listDatabases(client, signal)).names);
      await settleLeftovers(scratchFolder, leftovers, (line) => lines.push(line), signal);
      const listed = await listDatabases(client, signal);
      const account = await readAccount(client, signal);
      lines.unshift(...tellUnseen(account, listed));
      const { names } = listed;
      for (const database of names)
        if (!readsAllOf(account, database))
          await checkPrivileges(clientOf(client, database), [], signal);
      if (!makesAccounts(account) || !names.every((database) => mayRestore(account, database)))
        lines.push(tellRights(account.shown));
      if (!mayRestore(account, namesFor(0).drill))
        lines.push(
          `Drills are, too. Allow them with: GRANT ALL PRIVILEGES ON \`quarterdeck\\_%\`.* TO ${account.shown};`,
        );
      const counted = countOf(names.length, "database");
      const answer = `${server} ${serverVersion} answers, with ${counted}; ${dump.program} ${dump.version}.`;
      return [answer, ...lines].join(" ");
    },

    dump: (into, attempt) => dumpServer(client, into, attempt),

    async exists() {
      await listDatabases(client, AbortSignal.timeout(lookLimitMs));
      return true;
    },

    isEmpty: (signal) => holdsNothing(client, signal),

    async countRows(signal) {
      const counts: Record<string, number> = {};
      const { names } = await listDatabases(client, signal);
      for (const database of names) {
        const rows = await countRowsNow(clientOf(client, database), signal);
        if (rows !== null) Object.assign(counts, withPrefix(database, rows));
      }
      return counts;
    },

    refuseRestore: ({ id, signal }) =>
      createServerRestore(client, namesFor(id)).refuseWithoutRights(signal),

    isBuiltAside: false,

    async restore(from, attempt) {
      const names = namesFor(attempt.id);
      if (running.has(names.planFile))
        throw new SourceError(`Backup ${attempt.id} is being restored already.`);
      running.add(names.planFile);
      try {
        const { names: databases } = await listDatabases(client, attempt.signal);
        const leftovers = leftoversBeside(databases);
        await refuseLeftovers(scratchFolder, leftovers, attempt.say, attempt.signal);
        await createServerRestore(client, names).restore(from, attempt);
      } finally {
        from.destroy();
        running.delete(names.planFile);
      }
    },

    // In scratch databases on the same server, which may lack databases that views read.
    drill: (...drilled) => {
      const drill = createMysqlDrill({ client, isAlone: true }, namesFor);
      return drillEach(besideDatabases, drilled, (_, one) => drill.drill(...one));
    },

    async settle(attempt) {
      const names = await namesLeft(of, (one) => serverNamesOf(place, one, attempt.id));
      return createServerRestore(client, names).settle(attempt);
    },
  };
}
