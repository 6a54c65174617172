// The command line of the database. All that matters is on it, so that a running server can be compared with the one we would start.
import { createHash } from "node:crypto";

export const databaseUser = "quarterdeck";
export const databaseName = "quarterdeck";

/** With no network address the port is but a part of the socket's name. */
export const socketPort = 5432;
export const socketName = `.s.PGSQL.${socketPort}`;
export const socketLockName = `${socketName}.lock`;

/** How often this module looks after things that tell nobody: a taken-over process, the size of the log. */
export const watchIntervalMs = 1000;

const settings = {
  // Who may connect: whoever may enter the socket's folder, which is the account's own with mode 0700, and has the password, which
  // only the service can read. The password keeps out other programs that run as the account. See password.ts.
  listen_addresses: "",
  unix_socket_permissions: "0700",
  password_encryption: "scram-sha-256",
  port: String(socketPort),

  // Nothing acknowledged is ever lost; written out so that no postgresql.conf can switch it off.
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  // A crash ends the whole server, and watchdog.ts starts it anew and says why: one way back instead of two.
  restart_after_crash: "off",

  // A small footprint, on a machine that has other work. Connections that nobody opens cost next to nothing.
  shared_buffers: "32MB",
  max_connections: "100",
  min_wal_size: "32MB",
  max_wal_size: "256MB",
  maintenance_work_mem: "32MB",
  huge_pages: "off",
  jit: "off",
  // Each of these would add processes: readers, parallel workers, replication.
  io_method: "sync",
  max_worker_processes: "0",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  max_logical_replication_workers: "0",
  max_wal_senders: "0",
  wal_level: "minimal",
  // Keeps shared memory out of /dev/shm, which is 64 MB in a container and emptied by systemd when an ordinary user logs out.
  min_dynamic_shared_memory: "8MB",

  TimeZone: "UTC",
  log_timezone: "UTC",
  // Errors without the statement and the row that caused them: either may hold a secret.
  log_min_error_statement: "panic",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
  log_line_prefix: "%m [%p] %e ",
};

/** The whole `pg_hba.conf`: one role, on the socket, by password. */
export const accessRules = `# Written by Quarterdeck at each start.\nlocal all ${databaseUser} scram-sha-256\n`;

/** Where a database lies, as far as its command line says so. */
type Paths = { data: string; accessFile: string; socketFolder: string };

/** The arguments of `postgres`. */
export function serverArguments(place: Paths): string[] {
  const all = {
    ...settings,
    // Not the one among the data: the account could write to that.
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

/** Stands in the title of every process of this database, also of those whose postmaster is gone. */
export const clusterName = (place: Pick<Paths, "data">) => `quarterdeck-${nameOfPath(place.data)}`;

/** A short name for a path, the same each time. */
export const nameOfPath = (path: string) =>
  createHash("sha256").update(path).digest("hex").slice(0, 16);

// A list of folders to PostgreSQL: in quotes a comma or a blank is part of the name.
const quoted = (path: string) => `"${path.replaceAll('"', '""')}"`;
