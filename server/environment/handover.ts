// Keeps secrets out of the service's environment. On Linux every program of the same account can read the environment that a
// process was started with, whatever it deletes later. So the service executes itself again in the same process, with a clean
// environment, and passes the full one in an unlinked file.
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Environment = Record<string, string | undefined>;

type Self = Pick<NodeJS.Process, "env" | "execPath" | "execArgv" | "argv" | "execve">;

/** Each access to a hanging mount blocks a thread of the pool, whose default size is 4. */
const threads = { UV_THREADPOOL_SIZE: "16" };

/** Variable that marks standard input as the passed file. */
const mark = "QUARTERDECK_HANDED_OVER";
/** Only the first three files stay open over the execution, and the service reads no standard input. */
const standardInput = 0;

/** Variables without secrets, which programs and libraries read themselves. */
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
 * Executes this program again, once, with a clean environment, and does not return. Where the system does not support that, it
 * changes nothing.
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
    // No space for the file, or an upgrade is replacing Node. The service goes on, and warns of secrets that stay readable.
    emptyStandardInput();
  }
}

/** Writes an unlinked file that becomes standard input, because a new file gets the lowest free descriptor. */
function writeNameless(text: string): void {
  // In memory rather than on a disk, where /dev/shm exists.
  const bytes = Buffer.from(text);
  for (const folder of ["/dev/shm", tmpdir()]) {
    const path = join(folder, `quarterdeck-${randomBytes(16).toString("hex")}`);
    let file: number | null = null;
    try {
      file = openSync(path, "wx+", 0o600);
      // Unlinked while it is empty, so that a kill at any moment leaves no secret.
      unlinkSync(path);
      if (file !== standardInput) throw new Error("standard input was taken");
      // An almost full file system writes only a part.
      if (writeSync(file, bytes, 0, bytes.length, 0) < bytes.length) throw new Error("no room");
      return;
    } catch (error) {
      if (file !== null) closeSync(file);
      if (folder === tmpdir()) throw error;
    }
  }
}

let taken: Environment | null = null;

/** @returns the environment that was passed, or this process's own. Closes the file, which frees its content. */
export function takeEnvironment({ env }: Pick<Self, "env">): Environment {
  taken ??= env[mark] === undefined ? env : readNameless(env);
  return taken;
}

function readNameless(env: Environment): Environment {
  delete env[mark];
  const found = fstatSync(standardInput);
  // The mark may have been set by hand.
  if (!found.isFile() || found.nlink > 0) return env;
  try {
    const handedOver: Environment = JSON.parse(readFileSync(standardInput, "utf8"));
    return handedOver;
  } finally {
    emptyStandardInput();
  }
}

/** Opens /dev/null as standard input, because the next opened file would become it otherwise. */
function emptyStandardInput(): void {
  try {
    closeSync(standardInput);
  } catch {
    // Standard input is closed already.
  }
  openSync("/dev/null", "r");
}
