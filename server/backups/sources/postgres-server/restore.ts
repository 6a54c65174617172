// Replaces the databases of a server by those of a backup: each is restored under another name first, then all are renamed in one
// transaction, which PostgreSQL allows for databases.
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

/** Returns the mark of roles that a restore created, which is also the name of its sessions. */
const markOf = (its: Pick<Target, "installation">, id: number) => ownName(its, ["restore", id]);

/** How long each step of the cleanup may take. */
const tidyLimitMs = 5 * 60_000;

/** @throws SourceError where the account is no superuser */
export async function refuseWithoutRights(target: Target, session: Session): Promise<void> {
  await withServer(target, session, async (client) => {
    const { isSuperuser } = await lookAtAccount(client);
    if (!isSuperuser)
      throw new SourceError(
        `Nothing was changed: only a superuser can restore a whole server, and ${target.user} is none. Restore its databases one by one, or use another account.`,
      );
  });
}

/** @throws SourceError where the account is no superuser, or leftovers of an earlier restore cannot be removed */
async function prepare(target: Target, session: Session, attempt: Attempt): Promise<void> {
  await refuseWithoutRights(target, session);
  await settleServer(target, attempt);
  const left = await withServer(target, session, (client) =>
    listScratch(client, target, "old", attempt.id),
  );
  // From here on, the existence of such a database means that the databases were exchanged.
  if (left.length > 0)
    throw new SourceError(
      `Nothing was changed: an earlier restore left ${tellNames(left)}. Drop it, and restore again.`,
    );
}

/** @throws SourceError, or the signal's reason; the server is as it was before */
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
  /** Has a signal of its own, because a restore has to be undone or completed after an abort, too. */
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
    for (const leftOut of await exchange(target, session, { built, roles })) say(leftOut);
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
    // The exchange was committed, and only the response was lost.
  }
  await settleServer(target, tidy())
    .then(() => {
      const held = [...built.map(({ name }) => name), ...own];
      return sayLeft(target, { ...session, signal: tidy().signal }, held, say);
    })
    .catch((left: unknown) => say(`Couldn't clean up after the restore: ${toError(left).message}`));
}

/** Whether the database exists and contains the service's own data. */
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

/** A client may connect after the sessions were ended and before the lock that keeps new ones out. */
const attempts = 5;

/** PostgreSQL's code for a database that has sessions. */
const inUse = "55006";

/** @returns messages about what was left out */
async function exchange(target: Target, session: Session, work: Exchange): Promise<string[]> {
  // A database with sessions, including our own, cannot be renamed.
  const taken = new Set(work.built.map(({ name }) => name));
  const beside = [target.database, "postgres"].find((name) => !taken.has(name)) ?? "template1";
  for (let attempt = 1; ; attempt += 1)
    try {
      return await withClient({ ...target, database: beside }, session, (client) =>
        exchangeOnce(client, work),
      );
    } catch (error) {
      if (toError(toError(error).cause).code !== inUse) throw error;
      if (attempt === attempts)
        throw new SourceError(
          `${target.name} is unchanged: its databases were in use whenever they were to be exchanged. Stop what connects to them, and restore again. (${toError(error).message})`,
          { cause: error },
        );
    }
}

async function exchangeOnce(client: pg.Client, { built, roles }: Exchange): Promise<string[]> {
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
    // Within a transaction, pg_stat_activity keeps its first result until it is cleared.
    await client.query("select pg_stat_clear_snapshot()");
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
      [name],
    );
    await rename(name, old);
  }
  for (const { name, scratch } of built) await rename(scratch, name);
  const leftOut = await releaseRoles(client, roles);
  await client.query("commit");
  return leftOut;
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

/** See `Source.settle`. */
export async function settleServer(target: Target, { id, say, signal }: Attempt): Promise<State> {
  const session = { applicationName: "quarterdeck", signal };
  return withServer(target, session, async (client) => {
    const mark = markOf(target, id);
    await endSessions(client, target, mark, signal);
    await dropDatabase(client, drillDatabaseOf(target, id));
    // After the exchange, the databases of the backup have their own names, so none of these is left.
    const aside = await listScratch(client, target, "restore", id);
    for (const database of aside) await dropDatabase(client, database);
    // The marks of an earlier version lack the installation.
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
    // A database that cannot be dropped may belong to an earlier restore.
    return droppedOld > 0 ? "restored" : "unknown";
  });
}
