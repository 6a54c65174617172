// Translates error messages of the clients of MySQL and MariaDB for the operator.
import { endInWords } from "../../../hosts/end-in-words.ts";
import { SourceError } from "../source.ts";

/** A SourceError that keeps the server's error number, null where the tool gave none. */
export class MysqlError extends SourceError {
  override name = "MysqlError";
  readonly code: number | null;
  constructor(message: string, code: number | null) {
    super(message);
    this.code = code;
  }
}

/** The server cannot be reached, is shutting down, or is not up yet. */
export const unreachableCodes: ReadonlySet<number> = new Set([
  1053, 1927, 2002, 2003, 2005, 2006, 2013, 2026,
]);

export const codes = {
  databaseTaken: 1007,
  noRightsToDatabase: 1044,
  unknownDatabase: 1049,
  noSuchThread: 1094,
  noSuchAccount: 1133,
  noSuchGrant: 1141,
  noRightToTable: 1142,
  unknownTable: 1146,
  lockTimeout: 1205,
  noSpecialRight: 1227,
  readOnly: 1290,
  unknownRoutine: 1305,
  brokenView: 1356,
  noRightToRoutine: 1370,
  binaryLog: 1419,
  noSuchDefiner: 1449,
  noSuchParent: 1452,
} as const;

const referenced: ReadonlySet<number | null> = new Set([1217, 1451, 3730]);

/** Whether the server refused to drop a table because a foreign key refers to it. */
export const isReferenced = (error: unknown): error is MysqlError =>
  error instanceof MysqlError && referenced.has(error.code);

const notAllowed: ReadonlySet<number | null> = new Set([
  codes.noRightsToDatabase,
  codes.noRightToTable,
  codes.noSpecialRight,
  codes.noRightToRoutine,
]);

/** Whether the server refused a statement because the account lacks a privilege. */
export const isNotAllowed = (error: unknown): error is MysqlError =>
  error instanceof MysqlError && notAllowed.has(error.code);

/** Names of the database, for messages. */
type Named = { database: string; shown: string; setting?: string };

export function mysqlFailure(
  place: Named,
  end: { exitCode: number | null; signal: string | null; stderr: string },
): MysqlError {
  // `ERROR 1045 (28000): …` from the client, `Got error: 1045: …` or `Couldn't execute '…': … (1045)` from the dump tool.
  const line =
    end.stderr
      .split("\n")
      .findLast((text) => /^ERROR \d+|: Got error: \d+|\(\d{4}\)\s*$|Error \d{4}:/.test(text)) ??
    end.stderr.trim().split("\n").at(-1) ??
    "";
  const digits = /^ERROR (\d+)|Got error: (\d+)|Error (\d{4}):|\((\d{4})\)\s*$/.exec(line);
  const code = digits === null ? null : Number(digits.slice(1).find((text) => text !== undefined));
  const said = line === "" ? `the tool ${endInWords(end)}` : line.trim();
  // This message has no error number.
  const words = line.includes("insufficient privileges")
    ? `The account may not read all routines of ${place.shown}. GRANT SELECT ON mysql.proc TO it (MariaDB), or SHOW_ROUTINE ON *.* (MySQL 8).`
    : inWords(place, code);
  return new MysqlError(`${words} (${said})`, code);
}

function inWords({ shown, database, setting = "the url" }: Named, code: number | null): string {
  switch (code) {
    case 1045:
    case 1698:
      return `The server of ${shown} does not accept the user or password. Correct ${setting}.`;
    case codes.unknownDatabase:
      return `The server of ${shown} has no database ${database}. Create it, or correct the url.`;
    case 1130:
      return `The server of ${shown} does not accept connections from this machine. Give the account this machine as its host.`;
    case 2002:
    case 2003:
    case 2005:
      return `The server of ${shown} cannot be reached. Check that it runs, and the host and port of the url.`;
    case 1053:
    case 1927:
    case 2006:
    case 2013:
      return `The connection to ${shown} was lost. Check whether the server was stopped or restarted.`;
    case 2026:
      return `No TLS connection to ${shown} could be made. Set ssl-ca or skip-ssl in the url's query.`;
    case codes.noSpecialRight:
      return `The account may not do what ${shown} needs without a privilege of the whole server. Grant it the one that the server names, on *.*.`;
    case codes.noRightsToDatabase:
    case codes.noRightToTable:
    case 1143:
    case codes.noRightToRoutine:
      return `The account may not do what ${shown} needs. Grant it all rights on the database.`;
    case codes.binaryLog:
      return `The server of ${shown} writes a binary log, and lets superusers alone make triggers and functions. Allow it on the server with: SET GLOBAL log_bin_trust_function_creators = 1;`;
    case codes.lockTimeout:
      return `Another connection holds a table of ${shown} in a transaction that does not end. End it and try again.`;
    case codes.brokenView:
      return `A view of ${shown} refers to something that is not there, so it can be neither read nor dumped. Repair it or drop it.`;
    case 1273:
      return `The server of ${shown} has no such collation: the dump is of a newer server, or of MySQL where this is MariaDB. Restore it to a server that has it, or import a copy of the dump in which another one stands for it, e.g. for MySQL's utf8mb4_0900_ai_ci: sed 's/utf8mb4_0900_ai_ci/utf8mb4_unicode_520_ci/g' FILE > COPY.`;
    case 1153:
      return `A row of ${shown} is larger than the server takes. Raise max_allowed_packet on the server.`;
    default:
      return `${shown} failed.`;
  }
}
