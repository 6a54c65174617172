// Puts all databases of a backup in place of those of a server: each is restored beside them first, then all change places in
// one transaction, since a rename of a database is part of one.
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
import pg from "pg";
import { toError } from "../../../to-error.ts";
import { ownName, withClient, type Session, type Target } from "../postgres/connection.ts";
import {
  createDatabase,
  dropDatabase,
  endSessions,
  isMissingDatabase,
  isOwnDatabase,
  whyNotOwn,
  withServer,
} from "../postgres/databases.ts";
import { drillDatabaseOf } from "../postgres/drill.ts";
import { tellNames } from "../postgres/privileges.ts";
import { readProperties } from "../postgres/properties.ts";
import { openBackup, restoreArchive } from "../postgres/restore.ts";
import { SourceError, type Attempt, type Source } from "../source.ts";
import { listDatabases, listScratch, lookAtAccount, scratchDatabase } from "./databases.ts";
import { databaseOf } from "../whole-server/names.ts";
import { readFiles } from "../whole-server/tar.ts";
import {
  createMissingRoles,
  globalsPath,
  markedRoles,
  refusePartOfGlobals,
  releaseRoles,
} from "./roles.ts";

type Built = { name: string; scratch: string; old: string };
type Roles = Awaited<ReturnType<typeof createMissingRoles>>;
type State = Awaited<ReturnType<Source["settle"]>>;

/** Of roles that a restore made, and of its sessions. */
const markOf = (its: Pick<Target, "installation">, id: number) => ownName(its, ["restore", id]);

/** How long a step that puts things in order may take. */
const tidyLimitMs = 5 * 60_000;

/** @throws SourceError when the account may not */
export async function refuseWithoutRights(target: Target, session: Session): Promise<void> {
  await withServer(target, session, async (client) => {
    const { isSuperuser } = await lookAtAccount(client);
    if (!isSuperuser)
      throw new SourceError(
        `Nothing was changed: only a superuser can restore a whole server, and ${target.user} is none. Restore its databases one by one, or use another account.`,
      );
  });
}

/** @throws SourceError when the account may not, or what an earlier restore left cannot be removed */
async function prepare(target: Target, session: Session, attempt: Attempt): Promise<void> {
  await refuseWithoutRights(target, session);
  await settleServer(target, attempt);
  const left = await withServer(target, session, (client) =>
    listScratch(client, target, "old", attempt.id),
  );
  // From here on, one that is there says that the databases have changed places.
  if (left.length > 0)
    throw new SourceError(
      `Nothing was changed: an earlier restore left ${tellNames(left)}. Drop it, and restore again.`,
    );
}

/** @throws SourceError, or the signal's reason; the server is as it was then */
export async function restoreServer(
  target: Target,
  from: Readable,
  attempt: Attempt,
): Promise<void> {
  const { id, say, signal } = attempt;
  const session = { applicationName: markOf(target, id), signal };
  try {
    await prepare(target, session, attempt);
  } catch (error) {
    from.destroy();
    throw error;
  }
  /** Not the attempt's own: after an abort there is something to undo or to complete all the same. */
  const tidy = () => ({ ...attempt, signal: AbortSignal.timeout(tidyLimitMs) });
  const built: Built[] = [];
  const own: string[] = [];
  try {
    let roles: Roles | null = null;
    for await (const { path, content } of readFiles(from)) {
      if (path === globalsPath) {
        const globals = await text(content);
        refusePartOfGlobals(globals);
        const made = await withServer(target, session, (client) =>
          createMissingRoles(client, globals, markOf(target, id)),
        );
        if (made.missing.length > 0) say(`Created the roles ${made.missing.join(", ")}.`);
        roles = made;
        continue;
      }
      const name = databaseOf(path);
      if (name === null)
        throw new SourceError(`The backup contains ${path}, which is not a database.`);
      if (await isOwn(target, name, session)) {
        say(`Left ${name} as it is: ${whyNotOwn}.`);
        own.push(name);
        continue;
      }
      const number = built.length + 1;
      const one = {
        name,
        scratch: scratchDatabase(target, "restore", id, number),
        old: scratchDatabase(target, "old", id, number),
      };
      built.push(one);
      await build(target, one, content, attempt);
    }
    if (roles === null || built.length === 0)
      throw new SourceError("Nothing was changed: the backup holds no databases, or no roles.");
    await exchange(target, session, { built, roles });
  } catch (error) {
    from.destroy();
    const state = await settleServer(target, tidy()).catch((left: unknown) => {
      say(`Couldn't clean up after the restore: ${toError(left).message}`);
      return "unknown" as const;
    });
    if (state !== "restored") {
      signal.throwIfAborted();
      throw error;
    }
    // The last step was done, and only its answer lost.
  }
  await settleServer(target, tidy())
    .then(() => {
      const held = [...built.map(({ name }) => name), ...own];
      return sayLeft(target, { ...session, signal: tidy().signal }, held, say);
    })
    .catch((left: unknown) => say(`Couldn't clean up after the restore: ${toError(left).message}`));
}

/** Whether the server has it, as the service's own. */
async function isOwn(target: Target, name: string, session: Session): Promise<boolean> {
  try {
    return await withClient({ ...target, database: name }, session, (client) =>
      isOwnDatabase(client, target),
    );
  } catch (error) {
    if (isMissingDatabase(error)) return false;
    throw error;
  }
}

/** Restores one database beside the others, under another name. */
async function build(
  target: Target,
  { name, scratch }: Built,
  content: Readable,
  attempt: Attempt,
): Promise<void> {
  const { say, signal } = attempt;
  const { machine: host } = target;
  const session = { applicationName: markOf(target, attempt.id), signal };
  const aside = { ...target, database: scratch, name: `${name} on ${target.name}` };
  try {
    const backup = await openBackup({ host, isPacked: false }, content, signal);
    const own = await readProperties(backup.tools, backup.archive, scratch, signal);
    await withServer(target, session, (client) =>
      createDatabase(client, aside, scratch, {
        why: "a restore builds each database beside the one that it replaces",
        clauses: own.clauses,
        say,
      }),
    );
    const properties = own.statements;
    await restoreArchive(host, aside, session.applicationName, backup, attempt, { properties });
    say(`Restored ${name} beside the current one.`);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof SourceError
      ? new SourceError(`Database ${name}: ${error.message}`, { cause: error })
      : error;
  }
}

type Exchange = { built: readonly Built[]; roles: Roles };

/** Somebody may connect between the end of the sessions and the lock that keeps new ones out. */
const attempts = 5;

/** PostgreSQL's code for a database that has sessions. */
const inUse = "55006";

async function exchange(target: Target, session: Session, work: Exchange): Promise<void> {
  // A database that somebody is connected to, ourselves included, has no other name given.
  const taken = new Set(work.built.map(({ name }) => name));
  const beside = [target.database, "postgres"].find((name) => !taken.has(name)) ?? "template1";
  for (let attempt = 1; ; attempt += 1)
    try {
      await withClient({ ...target, database: beside }, session, (client) =>
        exchangeOnce(client, work),
      );
      return;
    } catch (error) {
      if (toError(toError(error).cause).code !== inUse) throw error;
      if (attempt === attempts)
        throw new SourceError(
          `${target.name} is unchanged: its databases were in use whenever they were to be exchanged. Stop what connects to them, and restore again. (${toError(error).message})`,
          { cause: error },
        );
    }
}

async function exchangeOnce(client: pg.Client, { built, roles }: Exchange): Promise<void> {
  const rename = (from: string, to: string) =>
    client.query(
      `alter database ${pg.escapeIdentifier(from)} rename to ${pg.escapeIdentifier(to)}`,
    );
  await client.query("begin");
  const { rows } = await client.query<{ name: string }>(
    "select datname as name from pg_database where datname = any($1)",
    [built.map(({ name }) => name)],
  );
  const existing = new Set(rows.map(({ name }) => name));
  for (const { name, old } of built) {
    if (!existing.has(name)) continue;
    // What was seen of sessions is kept for a transaction.
    await client.query("select pg_stat_clear_snapshot()");
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
      [name],
    );
    await rename(name, old);
  }
  for (const { name, scratch } of built) await rename(scratch, name);
  await releaseRoles(client, roles);
  await client.query("commit");
}

async function sayLeft(
  target: Target,
  session: Session,
  held: readonly string[],
  say: Attempt["say"],
): Promise<void> {
  const now = await withServer(target, session, (client) => listDatabases(client, target));
  const left = now.filter((name) => !held.includes(name));
  if (left.length > 0)
    say(`Left as they are, because the backup doesn't hold them: ${tellNames(left)}.`);
}

/** As the source's. */
export async function settleServer(target: Target, { id, say, signal }: Attempt): Promise<State> {
  const session = { applicationName: "quarterdeck", signal };
  return withServer(target, session, async (client) => {
    const mark = markOf(target, id);
    await endSessions(client, target, mark, signal);
    await dropDatabase(client, drillDatabaseOf(target, id));
    // Those of the backup bear their own names from the moment of the exchange on.
    const aside = await listScratch(client, target, "restore", id);
    for (const database of aside) await dropDatabase(client, database);
    // An earlier version named no installation.
    const roles = await markedRoles(client, [mark, markOf({}, id)]);
    for (const role of roles)
      await client
        .query(`drop role ${pg.escapeIdentifier(role)}`)
        .catch((error: Error) =>
          say(
            `The role ${role}, which the restore had made, couldn't be dropped: ${error.message}`,
          ),
        );
    let droppedOld = 0;
    for (const database of await listScratch(client, target, "old", id))
      await dropDatabase(client, database).then(
        () => (droppedOld += 1),
        (error: Error) =>
          say(
            `${database}, a database as it was before the restore, couldn't be dropped: ${error.message}. Drop it by hand.`,
          ),
      );
    if (aside.length > 0 || roles.length > 0) return "as it was";
    // One that can't be dropped may be of an earlier restore.
    return droppedOld > 0 ? "restored" : "unknown";
  });
}
