// Imports a foreign dump: an archive of pg_dump is stored as it is. Plain SQL is loaded into a scratch database and dumped from
// there, so that restores, drills and browsing find what they expect; so is an archive that could not be restored.
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type pg from "pg";
import { placeOf } from "../../../postgres/address.ts";
import { toError } from "../../../to-error.ts";
import type { ForeignFile } from "../../foreign/foreign-file.ts";
import { keepEnd } from "../../foreign/keep-end.ts";
import { createSqlLexer } from "../../foreign/sql-lexer.ts";
import type { SqlPiece } from "../../foreign/sql-statement.ts";
import { SourceError, type Attempt, type Intake, type Manifest } from "../source.ts";
import { writingTo } from "../../../write-to.ts";
import { withClient, type Target } from "./connection.ts";
import { tellCounts } from "./count.ts";
import { createDatabase, dropDatabase, dropLimitMs, withServer } from "./databases.ts";
import { drillDatabaseOf } from "./drill.ts";
import { dumpDatabase } from "./dump.ts";
import { createRowTally, refuseCommand, refuseStatement } from "./foreign-statements.ts";
import { createSqlLoad } from "./foreign-sql.ts";
import { archiveSql } from "./archive-sql.ts";
import { openBackup } from "./restore.ts";
import type { Backup } from "./run-script.ts";
import { findTools, type Tools } from "./tools.ts";

/** Last line of a plain dump, except for `\unrestrict`. */
const endMark = "-- PostgreSQL database dump complete";

export const createPostgresIntake = (target: Target, file: ForeignFile): Intake =>
  file.kind === "postgres-archive" ? archiveIntake(target, file) : sqlIntake(target, file);

/** By major version, the first minor version whose pg_restore keeps psql from commands in its output. */
const guardedSince: Readonly<Record<number, number>> = { 13: 22, 14: 19, 15: 14, 16: 10, 17: 6 };

/**
 * Refuses an older pg_restore, because a restore passes its output to psql, and a forged archive could have commands to psql in it.
 * @throws SourceError
 */
function refuseUnguarded({ major, version }: Tools): void {
  const minor = Number(/^\d+\.(\d+)/.exec(version)?.[1] ?? 0);
  if (major > 17 || minor >= (guardedSince[major] ?? Infinity)) return;
  throw new SourceError(
    `pg_restore ${version} doesn't keep commands to psql out of what it restores, so a foreign archive isn't safe. Update PostgreSQL's client programs (to 13.22, 14.19, 15.14, 16.10, 17.6 or newer), and import again.`,
  );
}

/** Warns of a superuser: statements of a dump run with all rights of the account, at the import of SQL and at each restore. */
async function warnOfSuperuser(
  client: pg.Client,
  target: Target,
  say: Attempt["say"],
): Promise<void> {
  const { rows } = await client.query(
    "select from pg_roles where rolname = current_user and rolsuper",
  );
  if (rows.length > 0)
    say(
      `${target.name}: the account ${target.user} is a superuser of PostgreSQL at ${placeOf(target)}, so what is in the file can do anything on that server, now or in a restore. Give the database in the inventory an account that owns that database alone.`,
    );
}

const sessionOf = ({ id, signal }: Attempt) => ({
  applicationName: `quarterdeck import ${id}`,
  signal,
});

/** Whether an archive creates the schema `public`: each restore of it would fail, because every database has that schema. */
const makesPublic = ({ archive }: Backup): boolean =>
  archive.contents.some((line) => /^\S+ \d+ \d+ SCHEMA - public /.test(line));

function archiveIntake(target: Target, file: ForeignFile): Intake {
  const { content } = file;
  const { machine: host } = target;
  let opened: Backup | null = null;
  let bySql: Intake | null = null;

  async function* sqlOf(backup: Backup, input: Readable, signal: AbortSignal) {
    yield* archiveSql(backup, input, signal);
    // Reads the rest, because pg_restore may stop before the end.
    for await (const _ of input);
  }

  return {
    async prepare(attempt) {
      const { say, signal } = attempt;
      const opening = { host, isPacked: false, isReadHere: true };
      const backup = await openBackup(opening, content, signal);
      opened = backup;
      refuseUnguarded(backup.tools);
      if (makesPublic(backup)) {
        const sql = Readable.from(sqlOf(backup, backup.archive.stream, signal));
        bySql = sqlIntake(target, { ...file, kind: "postgres-sql", content: sql });
        return bySql.prepare?.(attempt);
      }
      // Other errors are ignored, because an archive can be stored while the server is down.
      await withServer(target, sessionOf(attempt), (client) =>
        warnOfSuperuser(client, target, say),
      ).catch(() => signal.throwIfAborted());
    },
    async dump(into, attempt): Promise<Manifest> {
      if (bySql !== null) return bySql.dump(into, attempt);
      const { say, signal } = attempt;
      if (opened === null) throw new Error("The archive is not open.");
      const passed = Readable.from(writingTo(into, opened.archive.stream), { highWaterMark: 1 });
      try {
        const lexer = createSqlLexer("postgres");
        const tally = createRowTally();
        const take = (pieces: readonly SqlPiece[]) => {
          for (const piece of pieces)
            if (piece.is === "command") refuseCommand(piece.text, piece.line);
            else if (piece.is === "rows end") tally.takeRows(piece.rows);
            else if (piece.is === "end") {
              refuseStatement(piece.statement);
              tally.take(piece.statement);
            }
        };
        for await (const piece of sqlOf(opened, passed, signal)) take(lexer.write(piece));
        take(lexer.end());
        say(`The archive was read to its end: ${tellCounts(tally.tables())}.`);
        into.end();
        await finished(into, { readable: false });
        return { kind: "database", tables: tally.tables() };
      } catch (error) {
        into.destroy(toError(error));
        throw error;
      } finally {
        passed.destroy();
        content.destroy();
      }
    },
    async discard(attempt) {
      content.destroy();
      await bySql?.discard?.(attempt);
    },
  };
}

function sqlIntake(target: Target, { kind, content }: ForeignFile): Intake {
  const { machine: host } = target;
  const scratchOf = ({ id }: Pick<Attempt, "id">): Target => ({
    ...target,
    database: drillDatabaseOf(target, id),
  });
  return {
    async prepare(attempt) {
      const { say } = attempt;
      const { database } = scratchOf(attempt);
      const session = sessionOf(attempt);
      await withServer(target, session, async (client) => {
        await warnOfSuperuser(client, target, say);
        await dropDatabase(client, database);
        await createDatabase(client, target, database, {
          why: "SQL text is loaded into a database of its own first",
          clauses: null,
          scratch: "beside",
          say,
        });
      });
      say(`Loading the SQL into the database ${database}, which is dropped afterwards.`);
      const end = keepEnd();
      let unread: unknown;
      async function* reading() {
        try {
          yield* end.watch(content);
        } catch (error) {
          unread = error;
          throw error;
        }
      }
      await withClient(scratchOf(attempt), session, (client) =>
        createSqlLoad(client, attempt)(reading()),
      ).catch((error: unknown) => {
        // An error of the file, instead of the database error that it caused.
        throw unread ?? error;
      });
      if (kind === "postgres-sql" && !end.text().includes(endMark))
        throw new SourceError(
          `The file is cut off: “${endMark}” isn't at its end. Copy it again, or dump again.`,
        );
      if (kind === "sql")
        say("The file doesn't say where it ends, so whether it is whole can't be told.");
    },

    dump: (into, attempt) => {
      const installations = findTools(host, attempt.signal);
      const options = { installations, isCompressed: false };
      return dumpDatabase(host, scratchOf(attempt), into, attempt, options);
    },

    async discard(attempt) {
      content.destroy();
      const { database } = scratchOf(attempt);
      try {
        // Not the attempt's own signal, because the database has to be dropped after an abort, too.
        const session = sessionOf({ ...attempt, signal: AbortSignal.timeout(dropLimitMs) });
        await withServer(target, session, (client) => dropDatabase(client, database));
      } catch (error) {
        attempt.say(
          `The scratch database ${database} could not be dropped: ${toError(error).message}`,
        );
      }
    },
  };
}
