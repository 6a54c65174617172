// Loads single tables of a dump, checks that they can replace the live ones without a loss, and plans what has to be created again.
import type { Readable } from "node:stream";
import { quoteName, quoteText, type MysqlClient } from "./client.ts";
import {
  dropKeys,
  listForeignKeys,
  tellForeignReferences,
  type ForeignKey,
} from "./foreign-keys.ts";
import type { DumpOptions } from "./dump.ts";
import { refuseHiddenReferences } from "./hidden-references.ts";
import { loadScratch, tryLocks } from "./load.ts";
import { leadOf } from "./scratch.ts";
import { listTables, readTriggers, settableDefiners } from "./objects.ts";
import type { Names, Part, Plan } from "./plan.ts";
import { inDatabase, triggersIn } from "./split.ts";
import { SourceError, type Attempt, type Manifest } from "../source.ts";

const whole = "Restore the backup into a new database, and copy the table from there.";
const refuse = (why: string) => new SourceError(`Nothing was changed: ${why} ${whole}`);
const inList = (names: readonly string[]): string => `(${names.map(quoteText).join(", ")})`;

/** @returns the tables that the target has. @throws SourceError where they cannot be exchanged */
async function findExisting(
  client: MysqlClient,
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const { database } = client.place;
  const rows = await client.query(
    `SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(database)} AND TABLE_NAME IN ${inList(wanted)}`,
    { signal },
  );
  // The server treats names as equal that differ in case or accents.
  const found = rows.filter(([name = ""]) => wanted.includes(name));
  const other = found.find(([, type = ""]) => /VIEW|SEQUENCE/.test(type));
  if (other !== undefined) throw refuse(`${other[0]} is no table any more.`);
  const reason = await tellForeignReferences(client, database, signal, wanted);
  if (reason !== null) throw new SourceError(reason);
  const names = found.map(([name = ""]) => name);
  await refuseHiddenReferences(client, names, signal);
  return names;
}

/** Returns columns as `table.column`. */
async function columnsOf(
  client: MysqlClient,
  database: string,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const rows = await client.query(
    `SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ${quoteText(database)} AND TABLE_NAME IN ${inList(tables)}`,
    { signal },
  );
  return new Set(rows.filter(([table = ""]) => tables.includes(table)).map((row) => row.join(".")));
}

/** Advances AUTO_INCREMENT, so that a number that was assigned is not assigned again. */
async function moveNumbersOn(
  client: MysqlClient,
  { fresh }: Names,
  existing: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { database } = client.place;
  const rows = await client.query(
    // Otherwise MySQL returns cached values.
    `/*!80000 SET SESSION information_schema_stats_expiry=0 */;\nSELECT BINARY TABLE_NAME, MAX(AUTO_INCREMENT) FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ${inList([database, fresh])} AND AUTO_INCREMENT IS NOT NULL GROUP BY BINARY TABLE_NAME`,
    { signal },
  );
  const columns = await client.query(
    `SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ${quoteText(fresh)} AND EXTRA LIKE '%auto_increment%'`,
    { signal },
  );
  const counting = new Set(columns.map(([table]) => table));
  const statements = rows
    .filter(([table = ""]) => counting.has(table) && existing.includes(table))
    .map(
      ([table = "", next]) =>
        `ALTER TABLE ${quoteName(fresh)}.${quoteName(table)} AUTO_INCREMENT = ${Number(next)};\n`,
    );
  if (statements.length > 0) await client.query(`${statements.join("")}DO 0`, { signal });
}

type Loaded = {
  wanted: readonly string[];
  existing: string[];
  /** Tables that were loaded. */
  tables: readonly string[];
  manifest: Manifest | null;
};

/**
 * Checks that the loaded tables can replace the live ones, and drops their foreign keys.
 * @throws SourceError where something would be lost
 */
async function preparePart(
  client: MysqlClient,
  names: Names,
  { wanted, existing, tables, manifest }: Loaded,
  { say, signal }: Attempt,
): Promise<Part> {
  const { fresh } = names;
  const { database } = client.place;
  const missing = wanted.filter((name) => !tables.includes(name));
  if (missing.length > 0)
    throw new SourceError(`Nothing was changed: the backup holds no table ${missing.join(", ")}.`);
  if (existing.length > 0) {
    const comes = await columnsOf(client, fresh, existing, signal);
    const lost = [...(await columnsOf(client, database, existing, signal))].filter(
      (column) => !comes.has(column),
    );
    if (lost.length > 0)
      throw refuse(`the backup was made before there was a column ${lost.join(", ")}.`);
    await moveNumbersOn(client, names, existing, signal);
  }
  const counts = await client.query(
    wanted.map((name) => `SELECT COUNT(*) FROM ${quoteName(fresh)}.${quoteName(name)}`).join(";\n"),
    { signal },
  );
  const expected = manifest?.kind === "database" ? manifest.tables : {};
  for (const [at, name] of wanted.entries())
    if (expected[name] !== undefined && expected[name] !== Number(counts[at]?.[0]))
      throw new SourceError(
        `Nothing was changed: ${name} has ${counts[at]?.[0]} rows instead of ${expected[name]} that the backup counted.`,
      );
  const loaded = await listForeignKeys(client, fresh, signal);
  const drops = dropKeys(loaded, loaded, fresh);
  if (drops !== "") await client.query(`${leadOf(names, fresh)}${drops}DO 0`, { signal });
  const there = new Set([...(await listTables(client, database, signal)), ...wanted]);
  const own: ForeignKey[] = [];
  for (const key of loaded)
    if (key.database !== fresh) own.push(key);
    else if (there.has(key.parent)) own.push({ ...key, database });
    else
      say(
        `Left out: the foreign key ${key.name} of ${key.table}, because ${key.parent} is not there.`,
      );
  const live = await listForeignKeys(client, database, signal);
  await refuseTakenKeys(
    client,
    own,
    live.filter((key) => !wanted.includes(key.table)),
    signal,
  );
  const children = live.filter(
    (key) =>
      key.database === database && wanted.includes(key.parent) && !wanted.includes(key.table),
  );
  for (const name of wanted)
    if (!existing.includes(name)) say(`Creating ${name}, which is not there.`);
  return { existing, own, children };
}

/** Refuses duplicate names: names of foreign keys are unique in a database, up to MariaDB 12.0. @throws SourceError */
async function refuseTakenKeys(
  client: MysqlClient,
  own: readonly ForeignKey[],
  others: readonly ForeignKey[],
  signal: AbortSignal,
): Promise<void> {
  const taken = others.find(({ name }) => own.some((key) => key.name === name));
  if (taken === undefined) return;
  const [[version = ""] = []] = await client.query("SELECT VERSION()", { signal });
  const [, major, minor] = /^(\d+)\.(\d+).*MariaDB/i.exec(version) ?? [];
  if (Number(major) * 100 + Number(minor) >= 1201) return;
  const { name, table } = taken;
  throw new SourceError(
    `Nothing was changed: the table ${table} has a foreign key ${name}, whose name a restored table needs. Drop it, then restore again: ALTER TABLE ${quoteName(client.place.database)}.${quoteName(table)} DROP FOREIGN KEY ${quoteName(name)};`,
  );
}

/** Refuses duplicate names of triggers, e.g. where the live table was renamed to keep it beside the restored one. @throws SourceError */
async function refuseTakenTriggers(
  client: MysqlClient,
  names: readonly string[],
  wanted: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (names.length === 0) return;
  const { database } = client.place;
  const rows = await client.query(
    `SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = ${quoteText(database)} AND TRIGGER_NAME IN ${inList(names)}`,
    { signal },
  );
  const taken = rows.find(([, table = ""]) => !wanted.includes(table));
  if (taken === undefined) return;
  const [name = "", table = ""] = taken;
  throw new SourceError(
    `Nothing was changed: the table ${table} has a trigger ${name}, whose name a restored table needs. Drop it, then restore again: DROP TRIGGER ${quoteName(database)}.${quoteName(name)};`,
  );
}

type Asked = { tables: readonly string[]; from: Readable; manifest: Manifest | null };

/**
 * Loads single tables into a scratch database.
 * @returns the plan for exchanging them
 * @throws SourceError where they cannot take the places of the live ones
 */
export async function loadPart(
  options: DumpOptions,
  names: Names,
  { tables, from, manifest }: Asked,
  attempt: Attempt,
): Promise<Plan> {
  const { client } = options;
  const { database } = client.place;
  const { signal } = attempt;
  const wanted = [...new Set(tables)];
  const existing = await findExisting(client, wanted, signal);
  const taken = {
    tables: new Set(wanted),
    // Tables that exist keep their live triggers.
    withTriggers: new Set(wanted.filter((name) => !existing.includes(name))),
    database,
  };
  const loaded = await loadScratch(options, names, names.fresh, from, attempt, taken);
  await refuseTakenTriggers(client, triggersIn(loaded.objects), wanted, signal);
  const found = { wanted, existing, manifest, tables: loaded.tables };
  const part = await preparePart(client, names, found, attempt);
  await tryLocks(client, names, [...existing, ...part.children.map(({ table }) => table)], signal);
  const live = await readTriggers(options, existing, signal);
  const before = await settableDefiners(client, names.fresh, live, attempt);
  const restored = {
    // The default character set of the database is not changed.
    header: loaded.objects.header.replace(/^ALTER DATABASE .*\n/gm, ""),
    code: before.code + inDatabase(loaded.objects, database),
    events: "",
  };
  return { state: "begun", restored, before, tables: wanted, part };
}
