// Starts a PostgreSQL server for tests of backups: Debian's, with its tools, and a password.
import { spawn, execFile, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { makeMemoryFolder } from "../../testing/memory-folder.ts";
import { freePort } from "../../testing/free-port.ts";
import { leashed } from "../../testing/leash.ts";
import { copyOfModel } from "../../testing/model.ts";

const run = promisify(execFile);

const packaged = "/usr/lib/postgresql";
export const [toolsMajor = 15] = (existsSync(packaged) ? readdirSync(packaged) : [])
  .map(Number)
  .sort((one, other) => other - one);

/** Folder of Debian's newest installed programs. The server's come from `POSTGRES_BIN` if that is set. */
export const postgresTools = join(packaged, `${toolsMajor}`, "bin");
const programs = process.env["POSTGRES_BIN"] ?? postgresTools;

/** Whether the server is installed. */
export const hasPostgresServer = existsSync(join(programs, "initdb"));

export type PostgresServer = {
  port: number;
  major: number;
  /** Returns a URL with the superuser's login, or with another one. */
  url(database: string, account?: { user: string; password: string }): string;
  createDatabase(name: string, owner?: string): Promise<void>;
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    database: string,
    sql: string,
  ): Promise<Row[]>;
  /** Stops the server like `pg_ctl stop`, which ends open sessions. */
  shutDown(): Promise<void>;
  /** Like a power cut, then up again. */
  crash(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
};

const superuser = { user: "postgres", password: "p@ss word/:?" };

type PostgresServerOptions = {
  /** Enables TLS for clients that request it. */
  certificate?: { key: string; cert: string };
  /** Lines of `pg_hba.conf` before the default ones. */
  rules?: string;
  /** Override the settings for tests. */
  settings?: Record<string, string>;
  /** Makes the folder for the data. */
  makeFolder?: () => Promise<string>;
};

/** Starts a server in a temporary folder, on a free port; `stop` removes everything. */
export async function startPostgresServer({
  certificate,
  rules = "",
  settings: others = {},
  makeFolder = () => makeMemoryFolder("quarterdeck-postgres-"),
}: PostgresServerOptions = {}): Promise<PostgresServer> {
  const folder = await makeFolder();
  // PostgreSQL refuses to run as root.
  const account = userInfo().uid === 0 ? await accountOf("postgres") : null;
  if (account !== null) await chown(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, superuser.password, { mode: 0o644 });
  await copyOfModel("postgres", data, async (made) => {
    await mkdir(made);
    if (account !== null) await chown(made, account.uid, account.gid);
    await run(
      join(programs, "initdb"),
      `--pgdata ${made} --pwfile ${passwordFile} --username ${superuser.user} --auth scram-sha-256 --encoding UTF8 --locale C.UTF-8 --no-sync`.split(
        " ",
      ),
      { cwd: folder, ...account },
    );
  });
  const rulesFile = join(data, "pg_hba.conf");
  // Tests connect without a password over the socket, because authentication takes longer than most of their queries.
  const own = "local all all trust";
  await writeFile(rulesFile, `${own}\n${rules}\n${await readFile(rulesFile, "utf8")}`);
  const tls: Record<string, string> = {};
  if (certificate !== undefined)
    for (const [setting, text] of [
      ["ssl_key_file", certificate.key],
      ["ssl_cert_file", certificate.cert],
    ] as const) {
      const file = (tls[setting] = join(folder, setting));
      await writeFile(file, text, { mode: 0o600 });
      if (account !== null) await chown(file, account.uid, account.gid);
    }
  const port = await freePort();
  let server: ChildProcess | null = null;

  const url: PostgresServer["url"] = (database, { user, password } = superuser) =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`;

  const query: PostgresServer["query"] = async <Row extends pg.QueryResultRow>(
    database: string,
    sql: string,
  ) => {
    const client = new pg.Client({ user: superuser.user, host: folder, port, database });
    client.on("error", () => undefined);
    await client.connect();
    try {
      const result: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await client.query<Row>(sql);
      // Several statements return several results, which the types do not declare.
      return (Array.isArray(result) ? result.at(-1) : result).rows;
    } finally {
      await client.end();
    }
  };

  const start = async () => {
    const settings = {
      port,
      listen_addresses: "127.0.0.1",
      unix_socket_directories: folder,
      fsync: "off",
      synchronous_commit: "off",
      full_page_writes: "off",
      max_wal_senders: "0",
      wal_level: "minimal",
      shared_buffers: "32MB",
      ...(certificate !== undefined && { ssl: "on", ...tls }),
      ...others,
    };
    server = spawn(
      ...leashed("QUIT", join(programs, "postgres"), [
        "-D",
        data,
        ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      ]),
      { cwd: folder, stdio: "ignore", ...account },
    );
    for (let tries = 0; ; tries += 1) {
      try {
        await query("postgres", "select 1");
        return;
      } catch (error) {
        if (tries > 200 || server.exitCode !== null) throw error;
        await sleep(50);
      }
    }
  };

  const end = async (signal: NodeJS.Signals) => {
    if (server === null || server.exitCode !== null) return;
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  };

  await start();
  const [version] = await query<{ number: number }>(
    "postgres",
    "select current_setting('server_version_num')::int as number",
  );
  return {
    port,
    major: Math.floor((version?.number ?? 0) / 10_000),
    url,
    query,
    async createDatabase(name, owner = superuser.user) {
      await query(
        "postgres",
        `create database ${pg.escapeIdentifier(name)} owner ${pg.escapeIdentifier(owner)}`,
      );
    },
    shutDown: () => end("SIGINT"),
    // The signal of `pg_ctl stop -m immediate`.
    crash: () => end("SIGQUIT"),
    start,
    async stop() {
      await end("SIGQUIT");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function accountOf(name: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (what) => Number((await run("id", [what, name])).stdout)),
  );
  return { uid: uid ?? Number.NaN, gid: gid ?? Number.NaN };
}
