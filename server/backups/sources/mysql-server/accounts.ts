// Reads the accounts and roles of a server as SQL, in two files: one creates them, the other grants their privileges, because those on
// a table or routine can only be granted once that exists. Passwords are only there as the server's hashes.
import { quoteName, quoteText, type MysqlClient } from "../mysql/client.ts";
import { codes, MysqlError } from "../mysql/errors.ts";
import { listNames } from "../mysql/list-names.ts";
import { SourceError } from "../source.ts";
import type { Beside } from "../whole-server/drill.ts";

export const accountsPath = "accounts.sql";
export const grantsPath = "grants.sql";

const wholeMark = "-- Complete";

/** @throws SourceError where the file is truncated */
const refusePart = (path: string) => (content: string) => {
  if (!content.trimEnd().endsWith(wholeMark))
    throw new SourceError(`The backup's ${path} is cut off.`);
};

export const besideDatabases: Beside = {
  files: { [accountsPath]: refusePart(accountsPath), [grantsPath]: refusePart(grantsPath) },
  untried: "Accounts were not: those of the server were used.",
};

/** Accounts that every server has of its own. */
const ofServer = new Set(["mariadb.sys", "mysql.sys", "mysql.session", "mysql.infoschema"]);

/** MariaDB's role for the privileges of all accounts. */
const everybody = "PUBLIC";

type Row = { user: string; host: string; isRole: boolean };

const isEverybody = ({ user, isRole }: Row): boolean => isRole && user === everybody;

const shownAs = (row: Row): string => {
  if (isEverybody(row)) return everybody;
  return row.isRole ? quoteName(row.user) : `${quoteName(row.user)}@${quoteName(row.host)}`;
};

async function listAccounts(client: MysqlClient, signal: AbortSignal): Promise<Row[]> {
  const { isMariadb } = await client.tools(signal);
  const text = (column: string) => `HEX(CONVERT(${column} USING utf8mb4))`;
  const rows = await client.query(
    `SELECT ${text("User")}, ${text("Host")}, ${isMariadb ? "is_role" : "'N'"} FROM mysql.user ORDER BY User, Host`,
    { signal },
  );
  return rows
    .map(([user = "", host = "", role]) => ({
      user: Buffer.from(user, "hex").toString(),
      host: Buffer.from(host, "hex").toString(),
      isRole: role === "Y",
    }))
    .filter(({ user }) => !ofServer.has(user));
}

const quoted = "(?:`(?:[^`]|``)*`|'(?:[^'\\\\]|''|\\\\[\\s\\S])*')";
const grantee = `${quoted}(?:@${quoted})?|${everybody}`;
const granting = new RegExp(
  `^(GRANT|REVOKE) ((?:[^\`']|${quoted})*?) (TO|FROM) (${grantee})([\\s\\S]*)$`,
);
const making = new RegExp(`^CREATE USER ${quoted}@${quoted}([\\s\\S]*)$`);
const settingRole = new RegExp(`^SET DEFAULT ROLE [\\s\\S]* (?:FOR|TO) (${grantee})$`);
/** A clause of CREATE USER of MySQL 8, which would fail before the roles exist. */
const defaultRole = new RegExp(` DEFAULT ROLE ((?:${quoted}(?:@${quoted})?,?)+)`);

/** Returns a grant without the password that some servers add to it; null where it grants nothing, or to another account. */
function tidyGrant(line: string, account: string): string | null {
  const role = settingRole.exec(line);
  if (role !== null) return role[1] === account ? line : null;
  const [, verb, what = "", word, to, rest = ""] = granting.exec(line) ?? [];
  if (verb === undefined || to?.replaceAll("'", "`") !== account) return null;
  const [option] =
    /\b(?:GRANT|ADMIN) OPTION\b/.exec(rest.replace(new RegExp(quoted, "g"), "")) ?? [];
  if (what === "USAGE ON *.*" && option === undefined) return null;
  return `${verb} ${what} ${word} ${account}${option === undefined ? "" : ` WITH ${option}`}`;
}

type AccountFiles = {
  accounts: string;
  grants: string;
  /** Lines for the output. */
  notes: string[];
};

const fileOf = (about: string, statements: readonly string[]): string =>
  [
    `-- ${about}`,
    "SET NAMES utf8mb4;",
    "SET SESSION sql_mode='';",
    ...statements.map((statement) => `${statement};`),
    wholeMark,
    "",
  ].join("\n");

/** A line with another beginning continues the previous one, because a name may contain a line end. */
const beginsStatement = /^(?:CREATE USER|GRANT|REVOKE|SET DEFAULT ROLE) /;

/** @returns the statements for each account; null = the server does not know it */
async function showAccounts(
  client: MysqlClient,
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<(string[] | null)[]> {
  if (rows.length === 0) return [];
  const script = rows.flatMap((row) => {
    const { user, host, isRole } = row;
    const account = isRole ? quoteText(user) : `${quoteText(user)}@${quoteText(host)}`;
    return [
      "SELECT '#'",
      ...(isRole ? [] : [`SHOW CREATE USER ${account}`]),
      `SHOW GRANTS FOR ${isEverybody(row) ? everybody : account}`,
    ];
  });
  // Hashes of MySQL 8 may contain any byte.
  const hex = "/*!80017 SET SESSION print_identified_with_as_hex=1 */";
  try {
    const answers = await client.query([hex, ...script].join(";\n"), { signal });
    const statements: string[][] = [];
    for (const line of answers.map((columns) => columns.join("\t"))) {
      const current = statements.at(-1);
      if (line === "#") statements.push([]);
      else if (beginsStatement.test(line)) current?.push(line);
      else if (current !== undefined) current.push(`${current.pop() ?? ""}\n${line}`);
    }
    return statements;
  } catch (error) {
    if (!(error instanceof MysqlError) || !unknownAccount.has(error.code)) throw error;
    // At least one account is unknown: with skip_name_resolve a server ignores accounts with a host name.
    if (rows.length === 1) return [null];
    const half = Math.ceil(rows.length / 2);
    return [
      ...(await showAccounts(client, rows.slice(0, half), signal)),
      ...(await showAccounts(client, rows.slice(half), signal)),
    ];
  }
}

const unknownAccount: ReadonlySet<number | null> = new Set([
  codes.noSuchAccount,
  codes.noSuchGrant,
]);

/** @param readable whether the account may read the accounts; otherwise the files are empty */
export async function readAccounts(
  client: MysqlClient,
  readable: boolean,
  signal: AbortSignal,
): Promise<AccountFiles> {
  const all = readable ? await listAccounts(client, signal) : [];
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is looked for
  const odd = all.filter(({ user, host }) => /[\u0000-\u001f\u007f]/.test(user + host));
  const rows = all.filter((row) => !odd.includes(row));
  const statements = await showAccounts(client, rows, signal);
  const ignored = rows.filter((_, at) => statements[at] == null).map(shownAs);
  const accounts: string[] = [];
  const grants: string[] = [];
  for (const [at, row] of rows.entries()) {
    const account = shownAs(row);
    if (row.isRole && !isEverybody(row)) accounts.push(`CREATE ROLE IF NOT EXISTS ${account}`);
    for (const line of statements[at] ?? []) {
      const made = making.exec(line)?.[1];
      if (made === undefined) {
        const grant = tidyGrant(line, account);
        if (grant !== null) grants.push(grant);
        continue;
      }
      const role = defaultRole.exec(made)?.[1];
      accounts.push(`CREATE USER IF NOT EXISTS ${account}${made.replace(defaultRole, "")}`);
      if (role !== undefined) grants.push(`SET DEFAULT ROLE ${role} TO ${account}`);
    }
  }
  return {
    accounts: fileOf("The accounts of a MySQL or MariaDB server", accounts),
    grants: fileOf("What the accounts of a MySQL or MariaDB server may do", sortGrants(grants)),
    notes: [
      ...(odd.length === 0
        ? []
        : [`Accounts whose names hold control characters are not in the backup: ${odd.length}.`]),
      ...(ignored.length === 0
        ? []
        : [
            `Not in the backup, because the server ignores them (skip_name_resolve) or they were dropped: ${listNames(ignored)}.`,
          ]),
    ],
  };
}

/** Puts grants first, because a default role has to be granted before it is set, and a privilege before it is revoked. */
const sortGrants = (grants: readonly string[]): string[] => {
  const isLate = (grant: string) => !grant.startsWith("GRANT ");
  return [...grants.filter((grant) => !isLate(grant)), ...grants.filter(isLate)];
};

type Missing = {
  /** Quoted for SQL. */
  names: string[];
  /** Statements that create them. */
  statements: string[];
  /** Statements that grant their privileges. */
  grants: string[];
  /** Statements for privileges of PUBLIC that are not granted, because it has others on the server. */
  leftOut: string[];
};

const created = new RegExp(`^CREATE (?:USER|ROLE) IF NOT EXISTS (${grantee})`);

const statementsIn = (content: string): string[] =>
  content
    .split(/;\n(?=CREATE |GRANT |REVOKE |SET |-- )/)
    .filter((statement) => /^(?:CREATE|GRANT|REVOKE|SET DEFAULT ROLE) /.test(statement));

/** Returns the accounts of the backup that a server does not have, and PUBLIC where it has no privilege. */
export function missingAccounts(
  files: Pick<AccountFiles, "accounts" | "grants">,
  { names: existing, ofEverybody }: Existing,
): Missing {
  const missing = statementsIn(files.accounts).flatMap((statement) => {
    const name = created.exec(statement)?.[1];
    return name === undefined || existing.has(name) ? [] : [{ name, statement }];
  });
  const names = missing.map(({ name }) => name);
  const granted = (to: readonly string[]) =>
    statementsIn(files.grants).filter((statement) => {
      const account = settingRole.exec(statement)?.[1] ?? granting.exec(statement)?.[4];
      return account !== undefined && to.includes(account);
    });
  const isFree = ofEverybody.length === 0;
  return {
    names,
    statements: missing.map(({ statement }) => statement),
    grants: granted(isFree ? [...names, everybody] : names),
    leftOut: isFree ? [] : granted([everybody]).filter((one) => !ofEverybody.includes(one)),
  };
}

type Existing = {
  /** The accounts, quoted for SQL. */
  names: ReadonlySet<string>;
  /** Statements for the privileges of PUBLIC. */
  ofEverybody: readonly string[];
};

export async function existingAccounts(
  client: MysqlClient,
  signal: AbortSignal,
): Promise<Existing> {
  const rows = await listAccounts(client, signal);
  const [lines] = await showAccounts(client, rows.filter(isEverybody), signal);
  return {
    names: new Set(rows.map(shownAs)),
    ofEverybody: (lines ?? []).flatMap((line) => tidyGrant(line, everybody) ?? []),
  };
}

/** Returns a statement that revokes the privileges of PUBLIC, which had none before these grants; "" where there are none. */
export async function revokeFromEverybody(
  client: MysqlClient,
  grants: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  if (!grants.some((one) => granting.exec(one)?.[4] === everybody)) return "";
  const { ofEverybody } = await existingAccounts(client, signal);
  return ofEverybody.length === 0 ? "" : `REVOKE ALL PRIVILEGES, GRANT OPTION FROM ${everybody};\n`;
}

/** Returns statements that drop accounts. @param names quoted for SQL; roles of MariaDB have no host */
export const dropAccounts = (names: readonly string[]): string =>
  names
    .map((name) => `DROP ${/^`(?:[^`]|``)*`$/.test(name) ? "ROLE" : "USER"} IF EXISTS ${name};\n`)
    .join("");
