// Keeps the privileges on routines, which the server revokes where a routine is dropped, even if it is created again. MariaDB keeps
// them where it is replaced, which MySQL cannot do.
import { quoteName, quoteText, type MysqlClient } from "./client.ts";
import { isNotAllowed, MysqlError, unreachableCodes } from "./errors.ts";
import { listNames } from "./list-names.ts";
import { readAccount } from "./privileges.ts";
import type { Objects } from "./split.ts";
import type { Attempt } from "../source.ts";

const quoted = '(?:`(?:[^`]|``)+`|"(?:[^"]|"")+")';
/** Matches all of a dumped routine before its parameters, outside of its body. */
const routine = new RegExp(
  `^(?:/\\*!50003 DROP (?:FUNCTION|PROCEDURE|PACKAGE|PACKAGE BODY) IF EXISTS .*\\n)?((?:(?:/\\*!50003 SET |ALTER DATABASE ).*\\n)*DELIMITER ;;\\nCREATE)((?: +DEFINER=${quoted}(?:@${quoted})?)? +(?:AGGREGATE )?(FUNCTION|PROCEDURE|PACKAGE(?: BODY)?) +(${quoted}))`,
  "gm",
);

const keyOf = (kind: string, name: string): string => `${kind} ${name}`;

/** @param sql a quoted name, decoded as latin1 */
const nameIn = (sql: string): string => {
  const quote = sql[0] ?? "";
  const name = sql.slice(1, -1).replaceAll(quote + quote, quote);
  return Buffer.from(name, "latin1").toString();
};

const routinesIn = ({ code }: Pick<Objects, "code">): Set<string> =>
  new Set(
    [...code.matchAll(routine)].map(([, , , kind = "", name = ""]) => keyOf(kind, nameIn(name))),
  );

/**
 * Lets objects replace the routines that exist, where the server can.
 * @returns also the routines that must not be dropped before, as kind and name
 */
export async function replacing(
  client: MysqlClient,
  objects: Objects,
  signal: AbortSignal,
): Promise<{ objects: Objects; replaced: ReadonlySet<string> }> {
  const { isMariadb } = await client.tools(signal);
  if (!isMariadb) return { objects, replaced: new Set() };
  const code = objects.code.replace(routine, "$1 OR REPLACE$2");
  return { objects: { ...objects, code }, replaced: routinesIn(objects) };
}

/** A privilege on a routine: `routine` is its kind and name. */
export type RoutineGrant = { routine: string; sql: string };

const fromHex = (hex = ""): string => Buffer.from(hex, "hex").toString();
const hex = (column: string): string => `HEX(CONVERT(${column} USING utf8mb4))`;

/** @returns the privileges on the routines of the client's database; null = the account may not read them */
async function listGrants(
  client: MysqlClient,
  signal: AbortSignal,
): Promise<RoutineGrant[] | null> {
  const { database } = client.place;
  const { isMariadb } = await client.tools(signal);
  const columns = ["p.User", "p.Host", "p.Routine_name", "p.Routine_type", "p.Proc_priv"].map(hex);
  try {
    // Joined, because a grant to an account that is gone could create it.
    const rows = await client.query(
      `SELECT ${isMariadb ? "u.is_role" : "'N'"}, ${columns.join(", ")} FROM mysql.procs_priv p JOIN mysql.user u ON u.User = p.User AND u.Host = p.Host WHERE p.Db = ${quoteText(database)}`,
      { signal },
    );
    return rows.map(([isRole, ...texts]) => {
      const [user = "", host = "", name = "", kind = "", set = ""] = texts.map(fromHex);
      const role = user === "PUBLIC" ? user : quoteName(user);
      const account = isRole === "Y" ? role : `${quoteName(user)}@${quoteName(host)}`;
      const all = set.toUpperCase().split(",");
      const given = all.filter((privilege) => privilege !== "GRANT").join(", ") || "USAGE";
      const option = all.includes("GRANT") ? " WITH GRANT OPTION" : "";
      return {
        routine: keyOf(kind, name),
        sql: `GRANT ${given} ON ${kind} ${quoteName(database)}.${quoteName(name)} TO ${account}${option}`,
      };
    });
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    return null;
  }
}

async function listRoutines(client: MysqlClient, signal: AbortSignal): Promise<string[]> {
  const rows = await client.query(
    `SELECT ROUTINE_TYPE, ${hex("ROUTINE_NAME")} FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${quoteText(client.place.database)} ORDER BY 1, 2`,
    { signal },
  );
  return rows.map(([kind = "", name]) => keyOf(kind, fromHex(name)));
}

/** Grants privileges again that routines lost when they were dropped and created, and reports those that cannot be granted. */
export async function grantAgain(
  client: MysqlClient,
  kept: readonly RoutineGrant[] | null | undefined,
  { say, signal }: Pick<Attempt, "say" | "signal">,
): Promise<void> {
  if (kept === null || kept === undefined || kept.length === 0) return;
  const present = (await listGrants(client, signal)) ?? [];
  const remaining = new Set(present.map(({ sql }) => sql));
  const there = new Set(await listRoutines(client, signal));
  for (const { routine: granted, sql } of kept) {
    if (remaining.has(sql) || !there.has(granted)) continue;
    try {
      // Only this mode supports packages.
      const mode = granted.startsWith("PACKAGE") ? "SET SESSION sql_mode=ORACLE;\n" : "";
      await client.query(mode + sql, { signal });
    } catch (error) {
      if (!(error instanceof MysqlError) || unreachableCodes.has(error.code ?? 0)) throw error;
      say(`Lost: ${sql}. ${error.message}`);
    }
  }
}

/**
 * Lists the privileges on the routines of the client's database before a restore replaces them. Where the account may not read them,
 * reports the routines that the restore recreates, and adds a sentence to `lost` about those that an undo recreates.
 * @param objects those that the restore creates
 */
export async function readRoutineGrants(
  client: MysqlClient,
  objects: Objects,
  { say, signal }: Pick<Attempt, "say" | "signal">,
  lost: string[],
): Promise<RoutineGrant[] | null> {
  const grants = await listGrants(client, signal);
  if (grants !== null) return grants;
  const { replaced } = await replacing(client, objects, signal);
  const dropped = (await listRoutines(client, signal)).filter((one) => !replaced.has(one));
  const created = routinesIn(objects);
  const { shown } = await readAccount(client, signal);
  const tell = (routines: readonly string[]) =>
    `Privileges on routines of ${client.place.database} may be lost, because ${shown} may not read them: grant EXECUTE again to the accounts that had it only on ${listNames(routines)}.`;
  const again = dropped.filter((one) => created.has(one));
  if (again.length > 0) say(tell(again));
  if (dropped.length > 0) lost.push(tell(dropped));
  return null;
}
