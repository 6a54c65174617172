// Finds foreign keys of databases that the account does not see, which would follow the old tables that a restore moves away.
// information_schema hides them.
import { quoteName, quoteText, type MysqlClient } from "./client.ts";
import { isNotAllowed, isReferenced } from "./errors.ts";
import { listForeignKeys } from "./foreign-keys.ts";
import { listNames } from "./list-names.ts";
import { listTables } from "./objects.ts";
import type { Names } from "./plan.ts";
import { dropScratch } from "./scratch.ts";
import { SourceError } from "../source.ts";

const refusal = (database: string, found: string): SourceError =>
  new SourceError(
    `Nothing was changed: ${found}, and would follow the old tables of ${database}. Drop these foreign keys, restore, and make them again.`,
  );

/**
 * Drops the scratch databases of a restore, except old tables to which foreign keys of other databases refer, because these keys would
 * then refer to nothing. @throws SourceError that names the tables that stay
 */
export async function dropBoth(
  client: MysqlClient,
  { fresh, old }: Pick<Names, "fresh" | "old">,
  signal: AbortSignal,
): Promise<void> {
  try {
    await dropScratch(client, [fresh, old], signal, { checked: old });
  } catch (error) {
    if (!isReferenced(error)) throw error;
    const left = await listTables(client, old, signal);
    const { database } = client.place;
    throw new SourceError(
      `The restore is complete, but ${old} keeps old tables to which foreign keys of other databases refer: ${listNames(left)}. Drop these foreign keys and make them again to the tables of ${database}, then: DROP DATABASE ${quoteName(old)};`,
      { cause: error },
    );
  }
}

/**
 * @param tables the tables that are moved
 * @throws SourceError where a foreign key of a hidden database refers to one of them. Finds all with the privilege PROCESS; otherwise,
 *   on MariaDB, those to tables that have no part in a visible foreign key.
 */
export async function refuseHiddenReferences(
  client: MysqlClient,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { isMariadb } = await client.tools(signal);
  if (!isMariadb || tables.length === 0) return;
  const { database } = client.place;
  const all = await listAll(client, signal);
  if (all !== null) {
    const found = all.filter(
      ([other, parent = ""]) => other !== database && tables.includes(parent),
    );
    if (found.length === 0) return;
    const names = found.map(([other, parent]) => `${other} (to ${parent})`);
    throw refusal(
      database,
      `foreign keys of other databases point into ${database}: ${[...new Set(names)].join(", ")}`,
    );
  }
  const found = await probe(client, tables, signal);
  if (found.length === 0) return;
  throw refusal(
    database,
    `foreign keys of databases that the account doesn't see point to ${found.join(", ")} of ${database}`,
  );
}

/** @returns the databases of all foreign keys into the client's database, with the table that they refer to; null = without PROCESS */
async function listAll(client: MysqlClient, signal: AbortSignal): Promise<string[][] | null> {
  // Names are encoded as those of files.
  const decoded = (column: string, part: 1 | -1) =>
    `CONVERT(CONVERT(CAST(SUBSTRING_INDEX(${column}, '/', ${part}) AS BINARY) USING filename) USING utf8mb4)`;
  try {
    return await client.query(
      `SELECT * FROM (SELECT ${decoded("FOR_NAME", 1)} AS other, ${decoded("REF_NAME", -1)}, ${decoded("REF_NAME", 1)} AS parent FROM information_schema.INNODB_SYS_FOREIGN) k WHERE BINARY parent = ${quoteText(client.place.database)} AND other NOT LIKE 'quarterdeck\\_%'`,
      { signal },
    );
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    return null;
  }
}

/** Tests tables that have no part in a visible foreign key. @returns those that a foreign key refers to */
async function probe(
  client: MysqlClient,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const { database } = client.place;
  const visible = await listForeignKeys(client, database, signal);
  const known = new Set(
    visible.flatMap((key) => (key.database === database ? [key.table, key.parent] : [key.table])),
  );
  // The statement can never succeed, because no engine is changed in place and no column is added twice. The server first refuses it
  // with another error where a foreign key refers to the table.
  const tests = tables
    .filter((table) => !known.has(table))
    .map(
      (table) =>
        `BEGIN DECLARE EXIT HANDLER FOR 1217, 1451 SELECT ${quoteText(table)}; ALTER TABLE ${quoteName(database)}.${quoteName(table)} ENGINE=MyISAM, ADD COLUMN quarterdeck_probe INT, ADD COLUMN quarterdeck_probe INT, ALGORITHM=INPLACE; END;\n`,
    );
  if (tests.length === 0) return [];
  const rows = await client.query(
    `SET SESSION foreign_key_checks=1, lock_wait_timeout=5, sql_mode='NO_ENGINE_SUBSTITUTION';\nDELIMITER //\nBEGIN NOT ATOMIC\nDECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;\n${tests.join("")}END//\nDELIMITER ;\nDO 0`,
    { signal },
  );
  return rows.map(([table = ""]) => table);
}
