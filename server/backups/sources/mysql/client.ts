// The command line clients of MySQL and MariaDB: where the server is, which tool speaks to it, how a script is run.
import { Readable, Writable } from "node:stream";
import { CommandMissing, type Command, type CommandEnd, type Host } from "../../../hosts/host.ts";
import { mysqlFailure, unreachableCodes, MysqlError } from "./errors.ts";
import { runAs, type Login } from "./login.ts";
import { SourceError } from "../source.ts";

export type MysqlPlace = {
  /** The database's name. */
  database: string;
  /** For people: `db` on host:port. No secret in it. */
  shown: string;
  /** Where the account stands, for people; by default the url. */
  setting?: string;
  /** Options of every tool. */
  connection: readonly string[];
  login: Login;
};

/** TLS and socket settings that a url may carry in its query, by the name of the tools' own option. */
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

/** All databases of a server: the one that its url may name is not looked at. @param name for people. @throws like `readUrl` */
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
  /** A table's rows may pass, in either direction: an answer is passed on as it comes, instead of being kept by the client. */
  isLong?: boolean;
  /** Statements that the server refuses are passed over, and nobody is told. */
  isForced?: boolean;
  /** A line end or tab in an answer comes as `\n` or `\t`, so that it neither ends a row nor a column. */
  isEscaped?: boolean;
};

type Query = Omit<Feed, "output" | "isEscaped"> & {
  /** In a session as the server begins it. */
  isUnset?: boolean;
};

/** Of sql_select_limit. */
const noLimit = "18446744073709551615";

/** What was found out about a server and the programs beside it. */
type Known = { program: string | null; tools: MysqlTools | null };

export function createMysqlClient(
  host: Host,
  place: MysqlPlace,
  known: Known = { program: null, tools: null },
) {
  /** Runs a tool that speaks to the server. @param command its arguments without those of the connection */
  const connect = ({ argv: [program, ...rest], ...command }: Command): Promise<CommandEnd> =>
    runAs(host, place.login, { ...command, argv: [program, ...place.connection, ...rest] });

  /** Runs the first of these programs that is there. */
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
   * Lets the server do what the stream says; ends at the first statement that fails.
   * `--binary-mode`: nothing in the stream is a command to the client itself, such as `\!`. `--comments`: MariaDB's client
   * leaves out those in the bodies of routines and triggers otherwise.
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
      // A restore asks some thirty times, and a connection of its own costs each far more than the question.
      isSmall: !isLong,
      signal,
      // What a script answers is of no use, and would be kept.
      output: output ?? new Writable({ write: (_, __, done) => done() }),
    });
    if (end.exitCode !== 0) throw mysqlFailure(place, end);
  }

  /** @returns the answer's rows, their columns as text; SQL `NULL` reads "NULL" */
  async function query(sql: string, { isUnset = false, ...options }: Query): Promise<string[][]> {
    const pieces: Buffer[] = [];
    // Kept here and whole: a host keeps so much of an output and no more, and half a list of tables is half a restore.
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

    /** The server's kind, and a dump tool for it. @throws SourceError */
    async tools(signal: AbortSignal): Promise<MysqlTools> {
      if (known.tools !== null) return known.tools;
      const [[serverVersion = "", limit = ""] = []] = await query(
        "SELECT VERSION(), @@SESSION.sql_select_limit",
        { signal, isUnset: true },
      );
      // The dump tool doesn't lift it.
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

    /** Tries again for a while when the server is away: one that was restarted comes back within seconds. */
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

/** @param said what a tool answers to `--version`, which differs between MySQL, MariaDB before 11, and since */
export const readToolVersion = (said: string): string | null =>
  /\b(?:Distrib|Ver|from) (\d+\.\d+\.\d+)/.exec(said)?.[1] ?? null;

export type MysqlClient = ReturnType<typeof createMysqlClient>;

/** One of the databases of a whole server, which knows what is known of that. */
export const clientOf = ({ host, place, known }: MysqlClient, database: string): MysqlClient =>
  createMysqlClient(host, { ...place, database, shown: `${database} on ${place.shown}` }, known);

/** @returns what new tables of the client's database take, as SQL says it; null = there is no such database for the account */
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

/** Quotes in our own statements mean what they mean by default, whatever the server's mode. */
export const plainMode = "SET SESSION sql_mode='';\n";

/**
 * What a server is set to suits its applications: without it, a list of tables could be cut, rows be undone at the end of a script,
 * and what takes long be ended.
 */
export const plainSession = `SET SESSION sql_mode='', autocommit=1, sql_select_limit=${noLimit}, sql_big_selects=1 /*M!100101 , max_statement_time=0 */ /*!50708 , max_execution_time=0 */;
SET SESSION TRANSACTION READ WRITE;
`;

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", "0": "\0", "\\": "\\" };
/** A column as the client answers it without `--raw`. */
const unescaped = (text: string): string =>
  text.replace(/\\([nt0\\])/g, (_, letter: string) => escapes[letter] ?? letter);

export const quoteName = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

/** For `plainSession` only. */
export const quoteText = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
