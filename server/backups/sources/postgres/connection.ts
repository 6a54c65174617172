// Connects to a PostgreSQL database: by the `pg` package for queries, by environment variables for PostgreSQL's own tools.
import type { Socket } from "node:net";
import { posix } from "node:path";
import type { ConnectionOptions } from "node:tls";
import pg from "pg";
import {
  connectAs,
  placeOf,
  readPostgresUrl,
  type PostgresAddress,
} from "../../../postgres/address.ts";
import { describeRefusal } from "../../../postgres/refusal.ts";
import { toError } from "../../../to-error.ts";
import { givenFile } from "../../../hosts/given-file.ts";
import type { Command, CommandEnd, Host } from "../../../hosts/host.ts";
import { SourceError } from "../source.ts";
import { ServerAway } from "../../../ssh/server-away.ts";

type Address = PostgresAddress & {
  /** Name of the database, for people. */
  name: string;
};

export type Target = Address & {
  /** The machine that connects to it. */
  machine: Host;
  /** Name of the setting that contains the address, for messages; absent = the database's url. */
  setting?: string;
  /** A short form of the installation's id, because backups of another installation have the same ids. */
  installation?: string | undefined;
};

/** Names a session, database or role that works for a backup of this installation. @param part separator of the words */
export const ownName = (
  { installation }: Pick<Target, "installation">,
  words: readonly (string | number)[],
  part = " ",
): string =>
  ["quarterdeck", ...words, ...(installation === undefined ? [] : [installation])].join(part);

const connectTimeoutMs = 10_000;
const keepAliveMs = 30_000;

/** @throws SourceError that does not repeat the url, which holds a secret */
export function readTarget(name: string, url: string): Address {
  let address: PostgresAddress;
  try {
    address = readPostgresUrl(url);
  } catch (error) {
    throw new SourceError(`The url of ${name} ${toError(error).message}`, { cause: error });
  }
  refuseBrokenNames(name, [address.database]);
  return { name, ...address };
}

/** Refuses names with a line break, because pg_restore cannot read the archive of such a database. @throws SourceError */
export function refuseBrokenNames(shown: string, databases: readonly string[]): void {
  const broken = databases.find((database) => /[\r\n]/.test(database));
  if (broken !== undefined)
    throw new SourceError(
      `${shown}: the name of the database ${JSON.stringify(broken)} has a line break, which PostgreSQL's tools don't restore. Rename it with ALTER DATABASE … RENAME TO ….`,
    );
}

/** Returns the environment variables for PostgreSQL's tools, without the password. */
export function toolEnvironment(target: Address, applicationName: string): Record<string, string> {
  return {
    PGHOST: target.host,
    PGPORT: String(target.port),
    PGUSER: target.user,
    PGDATABASE: target.database,
    PGSSLMODE: target.sslMode,
    ...(target.sslRootCertificate !== null && { PGSSLROOTCERT: target.sslRootCertificate }),
    ...(target.sslCertificate !== null && { PGSSLCERT: target.sslCertificate }),
    ...(target.sslKey !== null && { PGSSLKEY: target.sslKey }),
    PGCONNECT_TIMEOUT: String(connectTimeoutMs / 1000),
    PGAPPNAME: applicationName,
  };
}

type ToolSession = { host: Host; target: Target; applicationName: string };

/**
 * Runs one of PostgreSQL's tools on the host, with the password in a file and all else in its environment.
 * @throws SourceError where the password cannot be written into such a file
 */
export async function runTool(
  { host, target, applicationName }: ToolSession,
  command: Command,
): Promise<CommandEnd> {
  const environment = toolEnvironment(target, applicationName);
  const { name, password } = target;
  // Without a password, the tools read the account's own ~/.pgpass.
  if (password === "") return host.run({ ...command, environment });
  if (/[\n\r\0]/.test(password))
    throw new SourceError(
      `The password of ${name} holds a line break, which PostgreSQL's tools cannot read from a file. Choose another one.`,
    );
  const { given = [] } = command;
  return host.run({
    ...command,
    given: [...given, toPasswordFile(password)],
    environment: { ...environment, PGPASSFILE: givenFile(given.length) },
  });
}

/** https://www.postgresql.org/docs/current/libpq-pgpass.html: for every host, port, database and user. */
const toPasswordFile = (password: string): string =>
  `*:*:*:*:${password.replace(/[\\:]/g, "\\$&")}\n`;

/** Parameters that end the wait for a server whose machine is gone. They have no environment variables. */
export const patience =
  "keepalives_idle=30 keepalives_interval=10 keepalives_count=3 tcp_user_timeout=60000";

/** Older servers lack the settings of the last statement. */
const ownSettings = `
  set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set default_transaction_read_only = off;
  select pg_catalog.set_config(name, '0', false) from pg_catalog.pg_settings
  where name in ('transaction_timeout', 'idle_session_timeout')`;

export type Session = { applicationName: string; signal: AbortSignal };

/**
 * Runs `work` with a connection, and closes it.
 * @throws SourceError that describes an error of the server or the network, or the signal's reason
 */
export async function withClient<Result>(
  target: Target,
  { applicationName, signal }: Session,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  let client: pg.Client | null = null;
  // Also ends a running query: while one runs, `end` closes the connection at once.
  const abort = () => void client?.end().catch(() => undefined);
  signal.addEventListener("abort", abort, { once: true });
  try {
    client = await connect(target, applicationName, signal);
    signal.throwIfAborted();
    // Limits that are set for an account or a database suit short queries, not an hour of counting; pg_dump resets them, too.
    await client.query(ownSettings);
    return await work(client);
  } catch (error) {
    signal.throwIfAborted();
    throw inWords(target, error);
  } finally {
    signal.removeEventListener("abort", abort);
    await client?.end().catch(() => undefined);
  }
}

/** Targets that were reached without TLS, which is not tried again: through SSH each further attempt is slow. */
const withoutTls = new WeakSet<Target>();

async function connect(
  target: Target,
  applicationName: string,
  signal: AbortSignal,
): Promise<pg.Client> {
  const { host, port, user, password, database, machine } = target;
  const attempt = async (ssl: ConnectionOptions | false) => {
    signal.throwIfAborted();
    const socket = machine.isRemote ? await connectThere(target) : null;
    const client = new pg.Client({
      host,
      port,
      user,
      password,
      database,
      ssl,
      // Only for a remote machine: connections that the package makes itself end cleanly where a server is stopped.
      ...(socket !== null && { stream: () => socket }),
      application_name: applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    });
    // A connection that breaks between two queries is reported by the next one; without this it would end the service.
    client.on("error", () => undefined);
    // Without this, an abort would wait for a server that does not respond.
    const abort = () => void client.end().catch(() => undefined);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await client.connect();
    } catch (error) {
      signal.throwIfAborted();
      throw socket?.bytesRead === 0 ? await explainClosed(target, error) : error;
    } finally {
      signal.removeEventListener("abort", abort);
    }
    if (ssl === false) withoutTls.add(target);
    return client;
  };
  return withoutTls.has(target)
    ? attempt(false)
    : connectAs(target, (path) => readThere(machine, path), attempt);
}

/** Connects through the remote machine. The package calls `connect` on its socket, so that only emits the event here. */
async function connectThere({ machine, host, port }: Target): Promise<Socket> {
  const path = posix.join(host, `.s.PGSQL.${port}`);
  const socket = await machine.connect(host.startsWith("/") ? { path } : { host, port });
  return Object.assign(socket, {
    connect: () => queueMicrotask(() => socket.emit("connect")),
  });
}

/** Explains why a connection through a remote machine was closed: SSH does not say why, so psql is run there for its error. */
async function explainClosed(target: Target, error: unknown): Promise<unknown> {
  const { machine, name } = target;
  const environment = toolEnvironment(target, "quarterdeck");
  const argv = ["psql", "--no-password", "--no-psqlrc", "--command="] as const;
  const { stderr } = await machine.run({ argv, environment });
  const coded = (code: string) =>
    Object.assign(new Error(stderr.trim(), { cause: error }), { code });
  if (/could not translate host name/.test(stderr)) return coded("ENOTFOUND");
  if (/Connection refused|No such file or directory/.test(stderr)) return coded("ECONNREFUSED");
  if (/timeout expired|timed out|unreachable|No route/.test(stderr)) return coded("ETIMEDOUT");
  return new SourceError(
    `${name}: PostgreSQL at ${placeOf(target)} can't be reached through SSH. Let sshd on the server forward connections (AllowTcpForwarding, PermitOpen).`,
    { cause: error },
  );
}

async function readThere(machine: Host, path: string): Promise<string> {
  const { exitCode, stdout, stderr } = await machine.run({ argv: ["cat", "--", path] });
  if (exitCode !== 0)
    throw new SourceError(`A file that the url names can't be read: ${stderr.trim()}`);
  return stdout;
}

export function inWords(target: Target, error: unknown): Error {
  if (error instanceof SourceError || error instanceof ServerAway) return error;
  if (!(error instanceof Error)) return new Error(String(error));
  const words = describeRefusal(target, target.setting ?? "the database's url", error);
  return new SourceError(`${target.name}: ${words}`, { cause: error });
}

export async function serverVersion(client: pg.Client): Promise<{ text: string; major: number }> {
  const { rows } = await client.query<{ number: number; text: string }>(
    "select current_setting('server_version_num')::int as number, current_setting('server_version') as text",
  );
  const { number, text } = rows[0] ?? { number: 0, text: "" };
  return { text: text.replace(/ .*/, ""), major: Math.floor(number / 10_000) };
}
