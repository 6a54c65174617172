// Reads, drops and tests the objects of a database that RENAME does not move: triggers, views, routines and events.
import { Readable, Writable } from "node:stream";
import { characterSetOf, plainMode, quoteName, quoteText, type MysqlClient } from "./client.ts";
import { runDumpTool, structureWithout, type DumpOptions } from "./dump.ts";
import { codes, MysqlError } from "./errors.ts";
import { createSplitter, definersOf, inDatabase, withoutDefiners, type Objects } from "./split.ts";
import { orderViews } from "./view-order.ts";
import { SourceError, type Attempt } from "../source.ts";

/**
 * Reads the SQL that creates a database's objects.
 * @param leftOut views that cannot be read
 */
export async function readObjects(
  options: DumpOptions,
  leftOut: readonly string[],
  signal: AbortSignal,
): Promise<Objects> {
  const splitter = createSplitter("");
  const nowhere = new Writable({ write: (_, __, done) => done() });
  splitter.stream.pipe(nowhere);
  await runDumpTool(options, structureWithout(options, leftOut), splitter.stream, signal);
  if (!splitter.isWhole())
    throw new SourceError(
      `The structure of ${options.client.place.shown} could not be read whole.`,
    );
  const characterSet = await characterSetOf(options.client, signal);
  if (characterSet !== null) splitter.objects.header += `ALTER DATABASE ${characterSet};\n`;
  return splitter.objects;
}

/** Reads the SQL that creates the triggers of some tables. */
export async function readTriggers(
  options: DumpOptions,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<Objects> {
  const splitter = createSplitter("");
  const nowhere = new Writable({ write: (_, __, done) => done() });
  splitter.stream.pipe(nowhere);
  const { database } = options.client.place;
  if (tables.length > 0) {
    const extra = ["--no-data", "--skip-routines", "--skip-events"];
    await runDumpTool(options, extra, splitter.stream, signal, database, tables);
    if (!splitter.isWhole())
      throw new SourceError(
        `The triggers of ${options.client.place.shown} could not be read whole.`,
      );
  }
  return splitter.objects;
}

/** Lists views that refer to missing objects: the server can neither read nor recreate them. */
export async function listBrokenViews(
  client: MysqlClient,
  database: string,
  signal: AbortSignal,
): Promise<string[]> {
  // The server reports a broken view in TABLE_COMMENT, but only if the query needs another column for which it opens the view:
  // hence TABLE_ROWS. A missing definer is reported there too, so each view is tried.
  const rows = await client.query(
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(database)} AND TABLE_TYPE = 'VIEW' AND TABLE_ROWS IS NULL AND TABLE_COMMENT <> 'VIEW' ORDER BY TABLE_NAME`,
    { signal },
  );
  const broken: string[] = [];
  for (const [view = ""] of rows) {
    try {
      await client.query(`SHOW FIELDS FROM ${quoteName(database)}.${quoteName(view)}`, { signal });
    } catch (error) {
      if (!(error instanceof MysqlError)) throw error;
      // The dump reports any other error.
      if (error.code === codes.brokenView) broken.push(view);
    }
  }
  return broken;
}

/** @param database the database that they are created in */
export const toSql = (objects: Objects, database: string): Buffer =>
  Buffer.from(`${objects.header}${inDatabase(objects, database)}${objects.events}`, "latin1");

/** Lists tables and sequences. */
export async function listTables(
  client: MysqlClient,
  database: string,
  signal: AbortSignal,
): Promise<string[]> {
  const rows = await client.query(
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(database)} AND TABLE_TYPE NOT LIKE '%VIEW' ORDER BY TABLE_NAME`,
    { signal },
  );
  return rows.map(([table]) => table ?? "");
}

/** Lists the triggers, events, views and routines of a database, each as a text with a checksum of its definition. */
export async function listObjects(
  client: MysqlClient,
  database: string,
  signal: AbortSignal,
): Promise<string[]> {
  const listing = (kind: string, of: string, name: string, text: string, schema: string) =>
    `SELECT ${kind}, ${name}, SHA2(${text}, 256) FROM information_schema.${of} WHERE ${schema} = ${quoteText(database)}`;
  const rows = await client.query(
    [
      listing("'TRIGGER'", "TRIGGERS", "TRIGGER_NAME", "ACTION_STATEMENT", "TRIGGER_SCHEMA"),
      listing("'EVENT'", "EVENTS", "EVENT_NAME", "EVENT_DEFINITION", "EVENT_SCHEMA"),
      listing("'VIEW'", "VIEWS", "TABLE_NAME", "VIEW_DEFINITION", "TABLE_SCHEMA"),
      listing("ROUTINE_TYPE", "ROUTINES", "ROUTINE_NAME", "ROUTINE_DEFINITION", "ROUTINE_SCHEMA"),
    ].join(";\n"),
    { signal },
  );
  return rows.map((row) => row.join(" "));
}

/** Whether both lists have the same objects. @param before absent = unknown */
export const isSame = (before: readonly string[] | undefined, now: readonly string[]): boolean =>
  before?.length === now.length && before.every((one) => now.includes(one));

/**
 * Returns statements that drop a database's objects of these kinds.
 * @param options `tables`: only triggers of these; null = all. `kept`: routines that stay, see `replacing`
 */
export async function dropsOf(
  client: MysqlClient,
  database: string,
  kinds: readonly ("TRIGGER" | "EVENT" | "VIEW" | "ROUTINE")[],
  signal: AbortSignal,
  { tables = null, kept }: { tables?: readonly string[] | null; kept?: ReadonlySet<string> } = {},
): Promise<string> {
  const inDatabase = (column: string) => `${column} = ${quoteText(database)}`;
  const queries = {
    TRIGGER: `SELECT 'TRIGGER', TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE ${inDatabase("TRIGGER_SCHEMA")}`,
    EVENT: `SELECT 'EVENT', EVENT_NAME FROM information_schema.EVENTS WHERE ${inDatabase("EVENT_SCHEMA")}`,
    VIEW: `SELECT 'VIEW', TABLE_NAME FROM information_schema.TABLES WHERE ${inDatabase("TABLE_SCHEMA")} AND TABLE_TYPE = 'VIEW'`,
    // The body of a package is dropped with the package.
    ROUTINE: `SELECT ROUTINE_TYPE, ROUTINE_NAME FROM information_schema.ROUTINES WHERE ${inDatabase("ROUTINE_SCHEMA")} AND ROUTINE_TYPE <> 'PACKAGE BODY'`,
  };
  const rows = await client.query(kinds.map((kind) => queries[kind]).join(";\n"), { signal });
  return (
    rows
      // Not in SQL, because the server treats names as equal that differ in case or accents.
      .filter(([kind, , table = ""]) => kind !== "TRIGGER" || (tables?.includes(table) ?? true))
      .filter(([kind, name]) => kept?.has(`${kind} ${name}`) !== true)
      .map(
        ([kind, name]) =>
          `DROP ${kind} IF EXISTS ${quoteName(database)}.${quoteName(name ?? "")};\n`,
      )
      // Only this mode supports packages.
      .map((drop) =>
        drop.startsWith("DROP PACKAGE ")
          ? `SET SESSION sql_mode=ORACLE;\n${drop}${plainMode}`
          : drop,
      )
      .join("")
  );
}

/** Returns statements that drop views with the names of these tables, which would make a RENAME fail. */
export async function dropsInTheWay(
  client: MysqlClient,
  database: string,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const views = await dropsOf(client, database, ["VIEW"], signal);
  return tables
    .map((table) => `DROP VIEW IF EXISTS ${quoteName(database)}.${quoteName(table)};\n`)
    .filter((drop) => views.includes(drop))
    .join("");
}

/**
 * Tests which accounts may be set as definers. Objects of the others get the restoring account. Sorts views into an order in which
 * they can be created.
 */
export async function settableDefiners(
  client: MysqlClient,
  database: string,
  objects: Objects,
  { say, signal }: Pick<Attempt, "say" | "signal">,
): Promise<Objects> {
  const refused: string[] = [];
  const gone: string[] = [];
  for (const account of definersOf(objects)) {
    const view = `${quoteName(database)}.quarterdeck_probe`;
    try {
      const notes = await client.query(
        `CREATE DEFINER=${Buffer.from(account, "latin1").toString("utf8")} VIEW ${view} AS SELECT 1 AS x; SHOW WARNINGS; DROP VIEW ${view}`,
        { signal },
      );
      if (notes.some(([, code]) => code === String(codes.noSuchDefiner))) gone.push(account);
    } catch (error) {
      if (!(error instanceof MysqlError) || error.code !== codes.noSpecialRight) throw error;
      refused.push(account);
      say(
        `The account may not make views, routines, triggers and events that run as ${account}; they run as this account from now on. GRANT SET USER (MySQL: SET_ANY_DEFINER) and restore again to keep it.`,
      );
    }
  }
  const settable = withoutDefiners(objects, refused);
  return { ...settable, code: orderViews(settable.code, gone) };
}

/** Removes all definers, so that objects run as the account that creates them. */
export function withoutAccounts(objects: Objects): Objects {
  const own = withoutDefiners(objects, definersOf(objects));
  return { ...own, code: orderViews(own.code, []) };
}

/** Loads all objects but events, to find errors before the target is changed. Then drops triggers, which would make a RENAME fail. */
export async function rehearseObjects(
  client: MysqlClient,
  database: string,
  lead: string,
  objects: Objects,
  signal: AbortSignal,
): Promise<void> {
  // Definers have no privileges in a scratch database, which a view over another view would need.
  const tried = withoutDefiners({ ...objects, events: "" }, definersOf(objects));
  const sql = Buffer.concat([Buffer.from(lead), toSql(tried, database)]);
  await client.feed(Readable.from([sql]), { database, signal });
  const drops = await dropsOf(client, database, ["TRIGGER"], signal);
  if (drops !== "") await client.query(`${lead}${drops}DO 0`, { signal });
}
