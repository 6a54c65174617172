// The command line of the database. It contains all relevant settings, so that a running server can be compared with the one that
// would be started.
import { createHash } from "node:crypto";

export const databaseUser = "quarterdeck";
export const databaseName = "quarterdeck";

/** Without a network address the port is only a part of the socket's name. */
export const socketPort = 5432;
export const socketName = `.s.PGSQL.${socketPort}`;
export const socketLockName = `${socketName}.lock`;

/** How often conditions are polled that cause no event: a server that was taken over, the size of the log. */
export const watchIntervalMs = 1000;

const settings = {
  // Connecting requires access to the socket's folder, which belongs to the account with mode 0700, and the password, which only
  // the service can read. The password keeps out other programs of the account. See password.ts.
  listen_addresses: "",
  unix_socket_permissions: "0700",
  password_encryption: "scram-sha-256",
  port: String(socketPort),

  // Acknowledged commits are never lost; set explicitly so that no postgresql.conf can disable it.
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  // A crash ends the whole server; watchdog.ts restarts it and reports the reason. That leaves one recovery path instead of two.
  restart_after_crash: "off",

  // A small footprint, because the machine has other work. Unused connections cost next to nothing.
  shared_buffers: "32MB",
  max_connections: "200",
  min_wal_size: "32MB",
  max_wal_size: "256MB",
  maintenance_work_mem: "32MB",
  huge_pages: "off",
  jit: "off",
  // Each of these would add processes: I/O workers, parallel workers, replication.
  io_method: "sync",
  max_worker_processes: "0",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  max_logical_replication_workers: "0",
  max_wal_senders: "0",
  wal_level: "minimal",
  // Keeps shared memory out of /dev/shm, which has 64 MB in a container, and which systemd empties when an ordinary user logs
  // out.
  min_dynamic_shared_memory: "8MB",

  TimeZone: "UTC",
  log_timezone: "UTC",
  // Errors are logged without their statement and row, because either may contain a secret.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
  log_line_prefix: "%m [%p] %e ",
};

/** The complete `pg_hba.conf`: one role, by socket, with a password. */
export const accessRules = `# Written by Quarterdeck at each start.\nlocal all ${databaseUser} scram-sha-256\n`;

/** The paths of a database on its command line. */
type Paths = { data: string; accessFile: string; socketFolder: string };

/** Returns the arguments of `postgres`. */
export function serverArguments(place: Paths): string[] {
  const all = {
    ...settings,
    // Not the pg_hba.conf in the data folder, which the account could change.
    hba_file: place.accessFile,
    unix_socket_directories: quoted(place.socketFolder),
    cluster_name: clusterName(place),
  };
  return [
    "-D",
    place.data,
    ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
}

/** Returns the name in the title of all processes of this database, including those whose postmaster has ended. */
export const clusterName = (place: Pick<Paths, "data">) => `quarterdeck-${nameOfPath(place.data)}`;

/** Returns a short and stable name for a path. */
export const nameOfPath = (path: string) =>
  createHash("sha256").update(path).digest("hex").slice(0, 16);

// The setting is a list of folders: quotes make commas and spaces part of a name.
const quoted = (path: string) => `"${path.replaceAll('"', '""')}"`;
