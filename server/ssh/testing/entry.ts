// Returns the `connection` of a test's sshd for an inventory.
import type { TestSshd } from "./sshd.ts";

/** @param hostKey null = none is pinned @param user the login */
export function sshEntry(
  sshd: TestSshd,
  hostKey: string | null = sshd.fingerprint,
  user = sshd.user,
): string {
  const pinned = hostKey === null ? "" : `, host_key: "${hostKey}"`;
  return `{ ssh: { host: 127.0.0.1, port: ${sshd.port}, user: ${user}, key: "file:${sshd.keyFile}"${pinned} } }`;
}
