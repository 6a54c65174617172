// Parses the privileges of an account from SHOW GRANTS. MySQL and MariaDB hide objects that an account may not see instead of
// refusing access, so that only the privileges show what a backup would lack.

/** Privileges by their names in GRANT, upper-case. */
export type Grants = {
  /** Whether the account has the privilege on the whole of a database. */
  has(privilege: string, database: string): boolean;
  /** Returns the pattern for `database` in a GRANT, so that a new rule does not hide the one that applies now. */
  ruleFor(database: string): string;
};

/** A name that no database has, nor a scratch database: a privilege for it is one for all databases. */
export const anyDatabase = "there_is_no_such_database";

type Rule = {
  grantee: string;
  privileges: ReadonlySet<string>;
  /** A pattern of databases, or null for all. */
  database: string | null;
  table: string | null;
  isRevoked: boolean;
};

const name = "(?:`(?:[^`]|``)*`|\\*)";
const line = new RegExp(
  `^(GRANT|REVOKE) (.+?) ON (?:TABLE )?(${name})\\.(${name}) (?:TO|FROM) (\\S+)`,
);
const unquoted = (text: string) => text.slice(1, -1).replaceAll("``", "`");

/**
 * @param lines output of SHOW GRANTS for the session's account, including the rules of its active roles and of PUBLIC
 * @param account the account, as those lines name it, e.g. `` `app`@`%` ``
 */
export function readGrants(lines: readonly string[], account: string): Grants {
  const rules = lines.flatMap((text): Rule[] => {
    const match = line.exec(text);
    if (match === null) return [];
    const [, verb, list = "", database = "", table = "", grantee = ""] = match;
    // `SELECT (a, b)` is a privilege for columns, which covers only a part of a table.
    const named = list.replace(/[A-Z ]+ \([^)]*\)(?:, )?/g, "");
    return [
      {
        // MySQL before 8 quotes accounts as text.
        grantee: grantee.replaceAll("'", "`"),
        privileges: new Set(named.split(",").map((privilege) => privilege.trim().toUpperCase())),
        database: database === "*" ? null : unquoted(database),
        table: table === "*" ? null : unquoted(table),
        isRevoked: verb === "REVOKE",
      },
    ];
  });
  const gives = ({ privileges }: Rule, privilege: string) =>
    privileges.has(privilege) || privileges.has("ALL PRIVILEGES") || privileges.has("ALL");

  /** Returns the rules of a grantee for a database. The server applies only one of them, not their sum. */
  const rulesOf = (grantee: string, database: string): Rule[] =>
    rules.filter(
      (rule) =>
        rule.grantee === grantee &&
        rule.table === null &&
        rule.database !== null &&
        !rule.isRevoked &&
        isLike(rule.database, database),
    );

  const has: Grants["has"] = (privilege, database) =>
    [...new Set(rules.map(({ grantee }) => grantee))].some((grantee) => {
      const matching = rulesOf(grantee, database);
      // Which one the server applies depends on its version.
      if (matching.length > 0 && matching.every((rule) => gives(rule, privilege))) return true;
      const everywhere = rules.filter(
        (rule) => rule.grantee === grantee && rule.database === null && !rule.isRevoked,
      );
      const isTakenBack = rules.some(
        (rule) => rule.isRevoked && rule.database === database && gives(rule, privilege),
      );
      return !isTakenBack && everywhere.some((rule) => gives(rule, privilege));
    });

  return {
    has,
    ruleFor: (database) => {
      const [rule] = rulesOf(account, database)
        .map((each) => each.database ?? "")
        .sort((one, other) => wildness(one) - wildness(other));
      return rule ?? database.replace(/[\\_%]/g, "\\$&");
    },
  };
}

/** https://mariadb.com/kb/en/grant/#database-privileges: `_` and `%` are wildcards, unless a backslash precedes them. */
function isLike(pattern: string, text: string): boolean {
  const source = pattern.replace(/\\([\s\S])|[\s\S]/g, (char, escaped?: string) => {
    if (escaped !== undefined) return RegExp.escape(escaped);
    if (char === "%") return "[\\s\\S]*";
    return char === "_" ? "[\\s\\S]" : RegExp.escape(char);
  });
  return new RegExp(`^${source}$`).test(text);
}

/** Rank by which the server chooses among patterns: it prefers the one whose wildcards match less. */
const wildness = (pattern: string): number =>
  (/(?<!\\)%/.test(pattern) ? 2 : 0) + (/(?<!\\)_/.test(pattern) ? 1 : 0);
