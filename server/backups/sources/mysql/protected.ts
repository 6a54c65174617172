// Handles views, routines and events that run as an administrator: in MySQL, accounts without the privilege SYSTEM_USER can neither
// replace nor drop them. This shows only in an attempt, so each attempt changes nothing where it is refused.
import { quoteName, quoteText, type MysqlClient } from "./client.ts";
import { codes, MysqlError } from "./errors.ts";
import { anyDatabase } from "./grants.ts";
import { readAccount } from "./privileges.ts";
import { listNames } from "./list-names.ts";
import { SourceError } from "../source.ts";

type Suspect = { kind: string; name: string; definer: string };

/** Lists objects that run as another account. @returns none where the account may replace all of them */
async function listSuspects(
  client: MysqlClient,
  databases: readonly string[],
  signal: AbortSignal,
): Promise<Suspect[]> {
  const { isMariadb } = await client.tools(signal);
  if (isMariadb || databases.length === 0) return [];
  const { grants } = await readAccount(client, signal);
  if (grants.has("SYSTEM_USER", anyDatabase)) return [];
  const names = databases.map(quoteText).join(", ");
  const listing = (kind: string, of: string, prefix: string, name: string) =>
    `SELECT ${kind}, ${prefix}_SCHEMA, ${name}, DEFINER FROM information_schema.${of} WHERE ${prefix}_SCHEMA IN (${names}) AND DEFINER <> CURRENT_USER()`;
  const rows = await client.query(
    [
      listing("ROUTINE_TYPE", "ROUTINES", "ROUTINE", "ROUTINE_NAME"),
      listing("'VIEW'", "VIEWS", "TABLE", "TABLE_NAME"),
      listing("'EVENT'", "EVENTS", "EVENT", "EVENT_NAME"),
    ].join(";\n"),
    { signal },
  );
  return rows.map(([kind = "", database = "", name = "", definer = ""]) => ({
    kind,
    name: `${quoteName(database)}.${quoteName(name)}`,
    definer,
  }));
}

/** @returns whether the statement succeeded; false = the account lacks SYSTEM_USER */
async function isDone(client: MysqlClient, sql: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.query(sql, { signal });
    return true;
  } catch (error) {
    if (error instanceof MysqlError && error.code === codes.noSpecialRight) return false;
    throw error;
  }
}

async function refusal(
  client: MysqlClient,
  refused: readonly Suspect[],
  signal: AbortSignal,
  state = "Nothing was changed",
): Promise<SourceError> {
  const { shown } = await readAccount(client, signal);
  const definers = [...new Set(refused.map(({ definer }) => definer))];
  return new SourceError(
    `${state}: ${shown} may not replace ${refused.length === 1 ? "" : "all of "}${listNames(refused.map(({ name }) => name))}, which ${refused.length === 1 ? "runs" : "run"} as ${definers.join(", ")}: MySQL asks for the privilege SYSTEM_USER. Allow it with: GRANT SYSTEM_USER ON *.* TO ${shown};`,
  );
}

/** Tests the routines. @throws SourceError where the account may not replace one that a restore replaces */
export async function refuseProtected(
  client: MysqlClient,
  databases: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const suspects = await listSuspects(client, databases, signal);
  const refused: Suspect[] = [];
  for (const suspect of suspects)
    if (
      (suspect.kind === "PROCEDURE" || suspect.kind === "FUNCTION") &&
      // Without clauses, ALTER changes nothing.
      !(await isDone(client, `ALTER ${suspect.kind} ${suspect.name}`, signal))
    )
      refused.push(suspect);
  if (refused.length > 0) throw await refusal(client, refused, signal);
}

/**
 * Drops views and events that run as another account; all views in one statement, which drops all of them or none.
 * @param unchanged called before the error where nothing was dropped
 * @throws SourceError where the account may not
 */
export async function dropSuspects(
  client: MysqlClient,
  databases: readonly string[],
  lead: string,
  unchanged: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const suspects = await listSuspects(client, databases, signal);
  const views = suspects.filter(({ kind }) => kind === "VIEW");
  const steps = [
    { dropped: views, sql: `DROP VIEW ${views.map(({ name }) => name).join(", ")}` },
    ...suspects
      .filter(({ kind }) => kind === "EVENT")
      .map((event) => ({ dropped: [event], sql: `DROP EVENT ${event.name}` })),
  ].filter(({ dropped }) => dropped.length > 0);
  for (const [at, { dropped, sql }] of steps.entries()) {
    if (await isDone(client, lead + sql, signal)) continue;
    if (at === 0) await unchanged();
    throw await refusal(client, dropped, signal, at === 0 ? undefined : "The restore is undone");
  }
}
