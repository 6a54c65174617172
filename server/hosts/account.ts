// Looks up accounts of this machine: the one that the service runs as, and those that it can run commands as.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { promisify } from "node:util";
import * as z from "zod/mini";

export const accountSchema = z.object({
  uid: z.int(),
  /** Primary group. */
  gid: z.int(),
  /** Empty for a uid without a name on the machine. */
  name: z.string(),
  home: z.string(),
});
export type Account = z.infer<typeof accountSchema>;

/** A directory service that does not respond must not hold up the reading of the inventory. */
const lookupDeadlineMs = 5000;

export function ownAccount(): Account {
  try {
    const { uid, gid, username, homedir } = userInfo();
    return { uid, gid, name: username, home: homedir };
  } catch {
    // A container that was started with a bare uid: the account has no entry.
    return { uid: process.geteuid?.() ?? -1, gid: process.getegid?.() ?? -1, name: "", home: "/" };
  }
}

/**
 * @param key a name or a uid
 * @returns null when the machine has no such account
 * @throws when a directory service did not respond
 */
export async function findAccount(key: string | number): Promise<Account | null> {
  return readPasswd((await passwdLine(String(key))) ?? "", key);
}

/**
 * Parses a line of the user database.
 * @param key the name or uid that was looked up
 * @returns null where the line is empty or of another account
 */
export function readPasswd(line: string, key: string | number): Account | null {
  const [name, , uid, gid, , home] = line.split(":");
  if (name === undefined || uid === undefined || gid === undefined) return null;
  // getent truncates a number beyond 32 bits, and then returns another account.
  if (name !== String(key) && uid !== String(key)) return null;
  return { uid: Number(uid), gid: Number(gid), name, home: home === undefined ? "/" : home };
}

async function passwdLine(key: string): Promise<string | null> {
  try {
    // Node has no getpwnam, and /etc/passwd lacks the users of a directory service.
    const { stdout } = await promisify(execFile)("getent", ["passwd", "--", key], {
      timeout: lookupDeadlineMs,
    });
    return stdout.trim();
  } catch (error) {
    const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
    // See “Exit status” in getent(1): 2 = no such key.
    if (code === 2) return null;
    if (code !== "ENOENT") throw error;
  }
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n");
  return (
    lines.find((line) => {
      const [name, , uid] = line.split(":");
      return name !== "" && (name === key || uid === key);
    }) ?? null
  );
}

/** Returns how messages name an account. */
export const accountName = ({ name, uid }: Pick<Account, "name" | "uid">): string =>
  name === "" ? `user ${uid}` : name;
