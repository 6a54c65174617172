// A test's own sshd as the inventory names it.
import type { TestSshd } from "./sshd.ts";

/** @param hostKey null = none is pinned */
export function sshEntry(sshd: TestSshd, hostKey: string | null = sshd.fingerprint): string {
  const pinned = hostKey === null ? "" : `, host_key: "${hostKey}"`;
  return `{ ssh: { host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, key: "file:${sshd.keyFile}"${pinned} } }`;
}
