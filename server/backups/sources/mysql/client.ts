// Runs the command-line clients of MySQL and MariaDB: parses the url, chooses the tools, and runs queries and scripts.
import { Readable, Writable } from "node:stream";
import { CommandMissing, type Command, type CommandEnd, type Host } from "../../../hosts/host.ts";
import { mysqlFailure, unreachableCodes, MysqlError } from "./errors.ts";
import { runAs, type Login } from "./login.ts";
import { SourceError } from "../source.ts";

export type MysqlPlace = {
  /** The database's name. */
  database: string;
  /** For people: `db on host:port`, without secrets. */
  shown: string;
  /** Name of the setting that contains the account, for messages; absent = the url. */
  setting?: string;
  /** Connection options for every tool. */
  connection: readonly string[];
  login: Login;
};

/** TLS and socket options that the query of a url may have, by the name of the tools' option. */
const passedOptions = new Set([
  "socket",
  "ssl",
  "ssl-ca",
  "ssl-cert",
  "ssl-key",
  "ssl-mode",
  "ssl-verify-server-cert",
  "skip-ssl",
]);

/** @param url mysql://user:secret@host:3306/db, or mariadb://… @throws SourceError that does not repeat the url */
export function readUrl(name: string, url: string): MysqlPlace {
  const { host, port, ...place } = parseUrl(name, url);
  if (place.database === "") throw notOne(name);
  return { ...place, shown: `${place.database} on ${host}${port === "" ? "" : `:${port}`}` };
}

/** Reads the url of a whole server, and ignores the database that it may name. @param name for people. @throws like `readUrl` */
export function readServerUrl(name: string, url: string): MysqlPlace {
  const { connection, login } = parseUrl(name, url);
  return { database: "", shown: name, connection, login };
}

const notOne = (name: string) =>
  new SourceError(
    `The url of database ${name} is not one. Write mysql://user:password@host:3306/database in the inventory.`,
  );

function parseUrl(name: string, url: string) {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^(mysql|mariadb):$/.test(parsed.protocol)) throw notOne(name);
  const host = parsed.hostname.replace(/^\[(.*)\]$/, "$1") || "localhost";
  const connection = [`--host=${host}`];
  // Without a port, localhost means the socket, as for the tools themselves.
  if (parsed.port !== "" || host !== "localhost")
    connection.push(`--port=${parsed.port || "3306"}`, "--protocol=tcp");
  for (const [key, value] of parsed.searchParams) {
    if (!passedOptions.has(key))
      throw new SourceError(
        `The url of database ${name} has the option ${key}; known are ${[...passedOptions].join(", ")}.`,
      );
    // A socket and --protocol=tcp exclude each other.
    if (key === "socket")
      connection.splice(
        0,
        connection.length,
        ...connection.filter((option) => !option.startsWith("--p")),
      );
    connection.push(value === "" ? `--${key}` : `--${key}=${value}`);
  }
  return {
    database: decodeURIComponent(parsed.pathname.slice(1)),
    host,
    port: parsed.port,
    connection,
    login: {
      user: decodeURIComponent(parsed.username),
      password: decodeURIComponent(parsed.password),
    },
  };
}

export type MysqlTools = {
  serverVersion: string;
  isMariadb: boolean;
  dump: { program: string; version: string; isMariadb: boolean };
};

type Feed = {
  database?: string;
  signal: AbortSignal;
  output?: Writable;
  /** Whether rows of tables may be sent or received: the client then streams results instead of buffering them. */
  isLong?: boolean;
  /** Whether statements that the server refuses are skipped without an error. */
  isForced?: boolean;
  /** Whether line ends and tabs in values are written as `\n` and `\t`, so that they end neither a row nor a column. */
  isEscaped?: boolean;
};

type Query = Omit<Feed, "output" | "isEscaped"> & {
  /** Whether the session keeps the server's own settings, without `plainSession`. */
  isUnset?: boolean;
};

/** Value of sql_select_limit without a limit. */
const noLimit = "18446744073709551615";

/** What is known of a server and the installed programs; null = not looked up yet. */
type Known = { program: string | null; tools: MysqlTools | null };

export function createMysqlClient(
  host: Host,
  place: MysqlPlace,
  known: Known = { program: null, tools: null },
) {
  /** Runs a tool that connects to the server. @param command with the arguments other than those of the connection */
  const connect = ({ argv: [program, ...rest], ...command }: Command): Promise<CommandEnd> =>
    runAs(host, place.login, { ...command, argv: [program, ...place.connection, ...rest] });

  /** Runs the first of these programs that is installed. @throws SourceError where none is */
  async function runFirst(
    programs: readonly string[],
    run: (program: string) => Promise<CommandEnd>,
  ): Promise<{ program: string; end: CommandEnd }> {
    for (const program of programs) {
      try {
        return { program, end: await run(program) };
      } catch (error) {
        if (!(error instanceof CommandMissing)) throw error;
      }
    }
    throw new SourceError(
      `${programs.join(" or ")} is not on ${host.isRemote ? "the server" : "this machine"}. Install mariadb-client (or mysql-client).`,
    );
  }

  async function clientProgram(signal: AbortSignal): Promise<string> {
    known.program ??= (
      await runFirst(["mariadb", "mysql"], (program) =>
        host.run({ argv: [program, "--version"], signal }),
      )
    ).program;
    return known.program;
  }

  /**
   * Runs the SQL of a stream; stops at the first statement that fails.
   * `--binary-mode`: the stream cannot contain commands to the client itself, such as `\!`. `--comments`: otherwise MariaDB's client
   * removes comments from the bodies of routines and triggers.
   * @throws MysqlError
   */
  async function feed(
    input: Readable,
    { database, signal, output, isLong = false, isForced = false, isEscaped = false }: Feed,
  ): Promise<void> {
    const program = await clientProgram(signal);
    const end = await connect({
      argv: [
        program,
        "--connect-timeout=15",
        "--batch",
        ...(isEscaped ? [] : ["--raw"]),
        "--skip-column-names",
        "--binary-mode",
        "--comments",
        "--skip-reconnect",
        "--default-character-set=utf8mb4",
        "--max-allowed-packet=1G",
        ...(isLong ? ["--quick", "--unbuffered"] : []),
        ...(isForced ? ["--force"] : []),
        ...(database === undefined ? [] : [`--database=${database}`]),
      ],
      input,
      // A restore runs some thirty queries, and a connection for each would take far longer than the query.
      isSmall: !isLong,
      signal,
      // By default, results are discarded, because they would be kept in memory.
      output: output ?? new Writable({ write: (_, __, done) => done() }),
    });
    if (end.exitCode !== 0) throw mysqlFailure(place, end);
  }

  /** @returns the rows of the result, columns as text; SQL `NULL` is "NULL" */
  async function query(sql: string, { isUnset = false, ...options }: Query): Promise<string[][]> {
    const pieces: Buffer[] = [];
    // All of the output is kept here, because a host keeps only a limited amount, and half a list of tables is half a restore.
    const output = new Writable({
      write(piece: Buffer, _, done) {
        pieces.push(piece);
        done();
      },
    });
    const input = Readable.from([Buffer.from(`${isUnset ? "" : plainSession}${sql};\n`)]);
    await feed(input, { ...options, output, isEscaped: true });
    return Buffer.concat(pieces)
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split("\t").map(unescaped));
  }

  return {
    host,
    place,
    known,
    connect,
    feed,
    query,

    /** Returns the server's kind and version, and a dump tool for it. @throws SourceError */
    async tools(signal: AbortSignal): Promise<MysqlTools> {
      if (known.tools !== null) return known.tools;
      const [[serverVersion = "", limit = ""] = []] = await query(
        "SELECT VERSION(), @@SESSION.sql_select_limit",
        { signal, isUnset: true },
      );
      // The dump tool doesn't raise this limit.
      if (limit !== noLimit)
        throw new SourceError(
          `The server of ${place.shown} answers ${limit} rows at most, so a dump would be cut. Allow all with: SET GLOBAL sql_select_limit = ${noLimit}; and take it out of its configuration and of init_connect.`,
        );
      const isMariadb = /mariadb/i.test(serverVersion);
      const programs = isMariadb ? ["mariadb-dump", "mysqldump"] : ["mysqldump", "mariadb-dump"];
      const { program, end } = await runFirst(programs, (candidate) =>
        host.run({ argv: [candidate, "--version"], signal }),
      );
      const version = readToolVersion(end.stdout) ?? "of unknown version";
      known.tools = {
        serverVersion,
        isMariadb,
        dump: { program, version, isMariadb: /mariadb/i.test(end.stdout) },
      };
      return known.tools;
    },

    /** Retries `work` for 20 seconds while the server cannot be reached, because a restart takes a few seconds. */
    async patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      for (let left = 40; ; left -= 1) {
        try {
          return await work();
        } catch (error) {
          const isAway = error instanceof MysqlError && unreachableCodes.has(error.code ?? 0);
          if (!isAway || left === 0 || signal.aborted) throw error;
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
      }
    },
  };
}

/** @param said output of `--version`, which differs between MySQL, MariaDB before 11, and MariaDB since 11 */
export const readToolVersion = (said: string): string | null =>
  /\b(?:Distrib|Ver|from) (\d+\.\d+\.\d+)/.exec(said)?.[1] ?? null;

export type MysqlClient = ReturnType<typeof createMysqlClient>;

/** Returns a client for one database of a whole server, which shares what is known of the server. */
export const clientOf = ({ host, place, known }: MysqlClient, database: string): MysqlClient =>
  createMysqlClient(host, { ...place, database, shown: `${database} on ${place.shown}` }, known);

/** @returns SQL for the default character set of the client's database; null = the account sees no such database */
export async function characterSetOf(
  { place, query }: MysqlClient,
  signal: AbortSignal,
): Promise<string | null> {
  const [row] = await query(
    `SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${quoteText(place.database)}`,
    { signal },
  );
  return row === undefined ? null : `CHARACTER SET ${row[0]} COLLATE ${row[1]}`;
}

/** Resets the SQL mode, so that quotes in our own statements have their default meaning. */
export const plainMode = "SET SESSION sql_mode='';\n";

/**
 * Overrides settings that the server has for its applications: they could truncate a list of tables, roll back rows at the end of a
 * script, or end long statements.
 */
export const plainSession = `SET SESSION sql_mode='', autocommit=1, sql_select_limit=${noLimit}, sql_big_selects=1 /*M!100101 , max_statement_time=0 */ /*!50708 , max_execution_time=0 */;
SET SESSION TRANSACTION READ WRITE;
`;

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", "0": "\0", "\\": "\\" };
/** Decodes a column that the client wrote without `--raw`. */
const unescaped = (text: string): string =>
  text.replace(/\\([nt0\\])/g, (_, letter: string) => escapes[letter] ?? letter);

export const quoteName = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

/** Quotes a text. Correct only in a session of `plainSession`. */
export const quoteText = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
