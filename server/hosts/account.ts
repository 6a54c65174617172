// Accounts of this machine: who the service runs as, and whom it can run something as.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { promisify } from "node:util";
import * as z from "zod/mini";

export const accountSchema = z.object({
  uid: z.int(),
  /** Its primary group. */
  gid: z.int(),
  /** Empty for a uid that the machine has no name for. */
  name: z.string(),
  home: z.string(),
});
export type Account = z.infer<typeof accountSchema>;

/** A directory service that is not responding must not hold up the reading of the inventory. */
const lookupDeadlineMs = 5000;

export function ownAccount(): Account {
  try {
    const { uid, gid, username, homedir } = userInfo();
    return { uid, gid, name: username, home: homedir };
  } catch {
    // A container that was started with a bare number: the account has no entry.
    return { uid: process.geteuid?.() ?? -1, gid: process.getegid?.() ?? -1, name: "", home: "/" };
  }
}

/**
 * @param key a name or a uid
 * @returns null when the machine knows no such account
 * @throws when a directory service was asked and did not answer
 */
export async function findAccount(key: string | number): Promise<Account | null> {
  return readPasswd((await passwdLine(String(key))) ?? "", key);
}

/** @param line of the user database, for a name or a uid; null where it is of another, or of none */
export function readPasswd(line: string, key: string | number): Account | null {
  const [name, , uid, gid, , home] = line.split(":");
  if (name === undefined || uid === undefined || gid === undefined) return null;
  // A number beyond 32 bits is answered with what is left of it.
  if (name !== String(key) && uid !== String(key)) return null;
  return { uid: Number(uid), gid: Number(gid), name, home: home === undefined ? "/" : home };
}

async function passwdLine(key: string): Promise<string | null> {
  try {
    // Node has no getpwnam, and /etc/passwd misses the users of a directory service.
    const { stdout } = await promisify(execFile)("getent", ["passwd", "--", key], {
      timeout: lookupDeadlineMs,
    });
    return stdout.trim();
  } catch (error) {
    const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
    // See "Exit status" in getent(1): 2 = no such key.
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

/** How an account is called in messages. */
export const accountName = ({ name, uid }: Pick<Account, "name" | "uid">): string =>
  name === "" ? `user ${uid}` : name;
