// Keeps secrets out of the service's own environment. On Linux every program of the same account can read the environment that a
// process was started with, whatever the process deletes from it later. So the service replaces itself by the same program with a
// clean environment, in the same process, and hands the whole one over in a file without a name.
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Environment = Record<string, string | undefined>;

type Self = Pick<NodeJS.Process, "env" | "execPath" | "execArgv" | "argv" | "execve">;

/** Threads that wait for files. In a mount that hangs, each look by the service itself keeps one, and Node's own are four. */
const threads = { UV_THREADPOOL_SIZE: "16" };

/** Says that standard input is the file. */
const mark = "QUARTERDECK_HANDED_OVER";
/** Of all files of a process, the first three alone are still open after it was replaced, and nobody speaks to the service. */
const standardInput = 0;

/** What programs and libraries read by themselves, and no secret is kept in. */
const plain = new Set(
  [
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TERM COLORTERM NO_COLOR FORCE_COLOR",
    "NODE_OPTIONS NODE_ENV NODE_DEBUG NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA NODE_V8_COVERAGE NODE_TLS_REJECT_UNAUTHORIZED",
    "SSL_CERT_FILE SSL_CERT_DIR OPENSSL_CONF UV_THREADPOOL_SIZE LD_LIBRARY_PATH LD_PRELOAD",
    "PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGPASSFILE PGOPTIONS PGAPPNAME PGCONNECT_TIMEOUT PGTZ PGCLIENTENCODING",
    "PGSSLMODE PGSSLCERT PGSSLKEY PGSSLROOTCERT PGSSLNEGOTIATION PGREQUIRESSL",
  ].flatMap((names) => names.split(" ")),
);

export const isPlain = (name: string): boolean => plain.has(name) || name.startsWith("LC_");

/**
 * Replaces this process, once, by itself with a clean environment; then it does not return. Where the system has no means for
 * that, everything stays as it is.
 */
export function handOver(self: Self): void {
  if (self.env[mark] !== undefined || self.execve === undefined) return;
  const clean = Object.fromEntries(Object.entries(self.env).filter(([name]) => isPlain(name)));
  closeSync(standardInput);
  try {
    writeNameless(JSON.stringify(self.env));
    const args = [self.execPath, ...self.execArgv, ...self.argv.slice(1)];
    self.execve(self.execPath, args, { ...threads, ...clean, [mark]: "1" });
  } catch {
    // No room for the file, or a Node that an upgrade is just replacing. The service itself can do without; it warns of what stays readable.
    emptyStandardInput();
  }
}

/** As standard input: the lowest number that is free is the one that a file gets. */
function writeNameless(text: string): void {
  // Memory rather than a disk, where there is such a folder.
  const bytes = Buffer.from(text);
  for (const folder of ["/dev/shm", tmpdir()]) {
    const path = join(folder, `quarterdeck-${randomBytes(16).toString("hex")}`);
    let file: number | null = null;
    try {
      file = openSync(path, "wx+", 0o600);
      // Before there is anything in it, so that a kill at any moment leaves no secret.
      unlinkSync(path);
      if (file !== standardInput) throw new Error("standard input was taken");
      // A folder that is almost full takes a part.
      if (writeSync(file, bytes, 0, bytes.length, 0) < bytes.length) throw new Error("no room");
      return;
    } catch (error) {
      if (file !== null) closeSync(file);
      if (folder === tmpdir()) throw error;
    }
  }
}

let taken: Environment | null = null;

/** What was handed over, or this process's own environment. The file is closed behind it, and its content gone with that. */
export function takeEnvironment({ env }: Pick<Self, "env">): Environment {
  taken ??= env[mark] === undefined ? env : readNameless(env);
  return taken;
}

function readNameless(env: Environment): Environment {
  delete env[mark];
  const found = fstatSync(standardInput);
  // Set by hand, the mark means nothing.
  if (!found.isFile() || found.nlink > 0) return env;
  try {
    const handedOver: Environment = JSON.parse(readFileSync(standardInput, "utf8"));
    return handedOver;
  } finally {
    emptyStandardInput();
  }
}

/** Also because it must not stay free: the next file to be opened would be taken for standard input. */
function emptyStandardInput(): void {
  try {
    closeSync(standardInput);
  } catch {
    // It is closed.
  }
  openSync("/dev/null", "r");
}
