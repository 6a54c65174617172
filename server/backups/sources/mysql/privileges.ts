// Checks that an account sees everything that a backup of its database should contain. The server does not refuse what it does not
// see: tables, views, triggers and routines would be missing from a dump that succeeded.
import { quoteName, quoteText, type MysqlClient } from "./client.ts";
import { tryDump } from "./dump.ts";
import { codes, MysqlError } from "./errors.ts";
import { anyDatabase, readGrants, type Grants } from "./grants.ts";
import { listNames } from "./list-names.ts";
import { SourceError } from "../source.ts";

/** A name that no object has: the server's error shows whether the account may see such objects. */
const nothing = "quarterdeck_there_is_no_such_object";

export type Account = { shown: string; grants: Grants };

/**
 * Checks the privileges for a backup, and also dumps the structure and discards it.
 * @param leftOut broken views to ignore
 * @throws SourceError that names the missing privileges, what would be left out, and the GRANT that adds them
 */
export async function checkPrivileges(
  client: MysqlClient,
  leftOut: readonly string[],
  signal: AbortSignal,
): Promise<{ warning: string }> {
  const account = await readAccount(client, signal);
  await checkObjects(client, account, signal);
  await checkRoutines(client, account, signal);
  // The columns of a view are shown only to accounts that may execute the functions in it.
  await tryDump({ client }, leftOut, signal).catch((error: unknown) => {
    if (!(error instanceof MysqlError) || error.code !== codes.noRightToRoutine) throw error;
    // The function may belong to another database.
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

/** Error codes for objects that do not exist, or that the account may not see. */
const refusals: ReadonlySet<number> = new Set([
  codes.noRightsToDatabase,
  codes.noSpecialRight,
  codes.noRightToTable,
  codes.unknownTable,
  codes.unknownRoutine,
  codes.noRightToRoutine,
  codes.readOnly,
  // For a trigger, the server returns this before it checks privileges, so that the privilege must be in the account's own rules.
  codes.binaryLog,
]);

/**
 * Checks privileges by the account's rules. Those that are not found there are tried on the server, because a rule for the same user
 * name with another host applies, too, and is not listed.
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
        // The account sees all names, because SELECT was checked before.
        if (view === undefined) return true;
        return (await answerTo(client, `SHOW CREATE VIEW ${inDatabase(view)}`, signal)) === null;
      },
    },
    {
      privilege: "TRIGGER",
      hides: "triggers",
      // Creates nothing, because the table does not exist. No read-only statement shows whether the account has this privilege.
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
    // Without SELECT, the results for the other privileges mean nothing.
    const isAsked = missing[0]?.privilege !== "SELECT";
    if (!isAsked || !(await need.isThere())) missing.push(need);
  }
  if (missing.length === 0) return;
  const privileges = missing.map(({ privilege }) => privilege);
  throw new SourceError(
    `The account ${shown} has no ${privileges.join(", no ")} on ${database}, so its ${missing[0]?.privilege === "SELECT" ? missing[0].hides : missing.map(({ hides }) => hides).join(" and ")} could be missing from a backup without a word. Allow it with: GRANT ${privileges.join(", ")} ON ${quoteName(grants.ruleFor(database))}.* TO ${shown};`,
  );
}

/** Checks access to routines: their names need any privilege on them, their definitions a further one. @throws SourceError */
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

/** Whether the account may read the table of routines. MySQL 8 has no such table, and requires SELECT on everything instead. */
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

/** Privileges that a restore needs, both in a scratch database and in the target. */
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

/** Whether the account has the privileges for a restore in a database. */
export const mayRestore = ({ grants }: Account, database: string): boolean =>
  restoring.every((privilege) => grants.has(privilege, database));

/** Returns a warning where the account may not restore, so that the operator knows before a restore is needed. */
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
