// Whether an account sees all that a backup of its database should hold. What it does not see is not refused but left
// out: tables, views, triggers and routines would be missing from a dump that ended well.
import { quoteName, quoteText, type MysqlClient } from "./client.ts";
import { tryDump } from "./dump.ts";
import { codes, MysqlError } from "./errors.ts";
import { anyDatabase, readGrants, type Grants } from "./grants.ts";
import { listNames } from "./list-names.ts";
import { SourceError } from "../source.ts";

/** No object has this name: the server's answer shows whether the account may look. */
const nothing = "quarterdeck_there_is_no_such_object";

export type Account = { shown: string; grants: Grants };

/**
 * Dumps the structure to nowhere as well.
 * @param leftOut views that cannot be read, where that is no reason to stop
 * @throws SourceError that names the missing privileges, what would be left out, and the GRANT that cures it
 */
export async function checkPrivileges(
  client: MysqlClient,
  leftOut: readonly string[],
  signal: AbortSignal,
): Promise<{ warning: string }> {
  const account = await readAccount(client, signal);
  await checkObjects(client, account, signal);
  await checkRoutines(client, account, signal);
  // A view's columns are shown only to whom the functions in it are granted.
  await tryDump({ client }, leftOut, signal).catch((error: unknown) => {
    if (!(error instanceof MysqlError) || error.code !== codes.noRightToRoutine) throw error;
    // It may be one of another database.
    const [, its = client.place.database] = /for routine '(.+)\.[^.]+'/.exec(error.message) ?? [];
    throw new SourceError(
      `The account ${account.shown} may not execute a function that a view of ${client.place.database} calls, so the view cannot be dumped. Allow it with: GRANT EXECUTE ON ${quoteName(account.grants.ruleFor(its))}.* TO ${account.shown};`,
      { cause: error },
    );
  });
  return { warning: tellRestore(client, account) };
}

export async function readAccount(client: MysqlClient, signal: AbortSignal): Promise<Account> {
  const [[who = ""] = [], ...rows] = await client.query("SELECT CURRENT_USER(); SHOW GRANTS", {
    signal,
  });
  const [user = "", host = "%"] = who.split(/@(?=[^@]*$)/);
  return {
    shown: `${quoteText(user)}@${quoteText(host)}`,
    grants: readGrants(
      rows.map((row) => row.join("\t")),
      `${quoteName(user)}@${quoteName(host)}`,
    ),
  };
}

/** @returns the server's error number, or null when it succeeded */
async function answerTo(
  client: MysqlClient,
  sql: string,
  signal: AbortSignal,
): Promise<number | null> {
  try {
    await client.query(sql, { signal });
    return null;
  } catch (error) {
    if (error instanceof MysqlError && error.code !== null && refusals.has(error.code))
      return error.code;
    throw error;
  }
}

/** What the server answers to a look at something that is not there, or not for this account. */
const refusals: ReadonlySet<number> = new Set([
  codes.noRightsToDatabase,
  codes.noSpecialRight,
  codes.noRightToTable,
  codes.unknownTable,
  codes.unknownRoutine,
  codes.noRightToRoutine,
  codes.readOnly,
  // Asked for a trigger, it answers this before it looks at privileges, so the account has to have the rule itself.
  codes.binaryLog,
]);

/**
 * A rule for the same user name with another host counts as well and is not among the account's own, so what is not
 * found there is asked of the server.
 */
async function checkObjects(
  client: MysqlClient,
  { shown, grants }: Account,
  signal: AbortSignal,
): Promise<void> {
  const { database } = client.place;
  const inDatabase = (name: string) => `${quoteName(database)}.${quoteName(name)}`;
  const needs: { privilege: string; hides: string; isThere: () => Promise<boolean> }[] = [
    {
      privilege: "SELECT",
      hides: "tables, views and sequences",
      isThere: async () =>
        (await answerTo(client, `SELECT 1 FROM ${inDatabase(nothing)}`, signal)) ===
        codes.unknownTable,
    },
    {
      privilege: "SHOW VIEW",
      hides: "views",
      isThere: async () => {
        const [[view] = []] = await client.query(
          `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(database)} AND TABLE_TYPE = 'VIEW' LIMIT 1`,
          { signal },
        );
        // All names are seen, as SELECT was looked at before.
        if (view === undefined) return true;
        return (await answerTo(client, `SHOW CREATE VIEW ${inDatabase(view)}`, signal)) === null;
      },
    },
    {
      privilege: "TRIGGER",
      hides: "triggers",
      // It makes nothing: there is no such table. No question that changes nothing even if there were one is answered.
      isThere: async () =>
        (await answerTo(
          client,
          `CREATE TRIGGER ${inDatabase(nothing)} BEFORE INSERT ON ${inDatabase(nothing)} FOR EACH ROW SET @x = 1`,
          signal,
        )) === codes.unknownTable,
    },
    {
      privilege: "EVENT",
      hides: "events",
      isThere: async () =>
        (await answerTo(client, `SHOW EVENTS FROM ${quoteName(database)}`, signal)) === null,
    },
  ];
  const missing: typeof needs = [];
  for (const need of needs) {
    if (grants.has(need.privilege, database)) continue;
    // To whom tables are hidden, the answers about the others are no answers.
    const isAsked = missing[0]?.privilege !== "SELECT";
    if (!isAsked || !(await need.isThere())) missing.push(need);
  }
  if (missing.length === 0) return;
  const privileges = missing.map(({ privilege }) => privilege);
  throw new SourceError(
    `The account ${shown} has no ${privileges.join(", no ")} on ${database}, so its ${missing[0]?.privilege === "SELECT" ? missing[0].hides : missing.map(({ hides }) => hides).join(" and ")} could be missing from a backup without a word. Allow it with: GRANT ${privileges.join(", ")} ON ${quoteName(grants.ruleFor(database))}.* TO ${shown};`,
  );
}

/** Names of routines are shown to whom any of them is granted, what they do to fewer. */
async function checkRoutines(
  client: MysqlClient,
  { shown, grants }: Account,
  signal: AbortSignal,
): Promise<void> {
  const { database } = client.place;
  const cure = await routineGrant(client, shown, grants, signal);
  const seesNames =
    ["EXECUTE", "CREATE ROUTINE", "ALTER ROUTINE", "SHOW CREATE ROUTINE", "SHOW_ROUTINE"].some(
      (privilege) => grants.has(privilege, database),
    ) ||
    (await mayReadRoutines(client, grants, signal)) ||
    (await answerTo(client, `CALL ${quoteName(database)}.${quoteName(nothing)}()`, signal)) ===
      codes.unknownRoutine;
  if (!seesNames)
    throw new SourceError(
      `The account ${shown} may not see the routines of ${database}, so procedures, functions and packages could be missing from a backup without a word. Allow it with: ${cure}`,
    );
  const unread = await client.query(
    `SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${quoteText(database)} AND ROUTINE_DEFINITION IS NULL ORDER BY 1`,
    { signal },
  );
  if (unread.length > 0)
    throw new SourceError(
      `The account ${shown} may not read the routines ${listNames(unread.map(([routine = ""]) => routine))} of ${database}. Allow it with: ${cure}`,
    );
}

/** By a right to the table of routines; MySQL 8, which has none, takes a SELECT on everything for it. */
async function mayReadRoutines(
  client: MysqlClient,
  grants: Grants,
  signal: AbortSignal,
): Promise<boolean> {
  const { isMariadb, serverVersion } = await client.tools(signal);
  if (!isMariadb && Number.parseInt(serverVersion, 10) >= 8)
    return grants.has("SELECT", anyDatabase);
  return (await answerTo(client, "SELECT 1 FROM mysql.proc LIMIT 0", signal)) === null;
}

async function routineGrant(
  client: MysqlClient,
  shown: string,
  grants: Grants,
  signal: AbortSignal,
): Promise<string> {
  const { isMariadb, serverVersion } = await client.tools(signal);
  const [major = 0, minor = 0] = serverVersion.split(".").map(Number);
  if (!isMariadb && major >= 8) return `GRANT SHOW_ROUTINE ON *.* TO ${shown};`;
  const hasOwnPrivilege = isMariadb && (major > 11 || (major === 11 && minor >= 3));
  return hasOwnPrivilege
    ? `GRANT SHOW CREATE ROUTINE ON ${quoteName(grants.ruleFor(client.place.database))}.* TO ${shown};`
    : `GRANT SELECT ON mysql.proc TO ${shown};`;
}

/** A restore makes all that a database can hold, first in a scratch database and then in the target. */
const restoring = [
  "SELECT",
  "INSERT",
  "CREATE",
  "DROP",
  "ALTER",
  "INDEX",
  "REFERENCES",
  "CREATE VIEW",
  "SHOW VIEW",
  "CREATE ROUTINE",
  "ALTER ROUTINE",
  "TRIGGER",
  "EVENT",
];

/** Whether it may do all of that in a database. */
export const mayRestore = ({ grants }: Account, database: string): boolean =>
  restoring.every((privilege) => grants.has(privilege, database));

/** Many a good backup is taken by an account that only reads; the operator learns of it before a restore is needed. */
function tellRestore(client: MysqlClient, account: Account): string {
  const { database } = client.place;
  const { shown, grants } = account;
  const scratch = mayRestore(account, "quarterdeck_new_1");
  const target = mayRestore(account, database);
  if (scratch && target) return "";
  const cures = [
    ...(scratch ? [] : [`GRANT ALL PRIVILEGES ON \`quarterdeck\\_%\`.* TO ${shown};`]),
    ...(target
      ? []
      : [`GRANT ALL PRIVILEGES ON ${quoteName(grants.ruleFor(database))}.* TO ${shown};`]),
  ];
  return ` ${scratch ? "A restore" : "A restore or drill"} would be refused: ${shown} may not change ${scratch ? database : target ? "a scratch database" : `${database} or a scratch database`}. Allow it with: ${cures.join(" ")}`;
}
