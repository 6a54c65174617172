// A login that has SFTP and maybe nothing else: who is reached how, over the system's ssh with a pinned host key.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Host } from "../../hosts/host.ts";
import { namesOf, pinHostKeys } from "../host-keys.ts";
import { explainSsh } from "../server-away.ts";
import { knownHostsIn, placeOf, sshArguments, type HopName, type SshTarget } from "../target.ts";
import { openSftp, type SftpSession } from "./session.ts";

export type SftpAccess = {
  /** This machine, where ssh runs. */
  host: Pick<Host, "run">;
  target: SshTarget;
  /** What `ssh` sees: where programs are, and maybe where an agent listens. */
  environment: Record<string, string>;
  /** Private keys that are in no file. */
  keyTexts?: Partial<Record<HopName, string>>;
  /** How long nothing may arrive while something is awaited. */
  idleMs?: number;
};

/** Keys that were shown once and are the pinned ones, as the file of known hosts has them: each look takes a connection. */
const pinned = new Map<string, string>();

/** @throws ServerAway, or the signal's reason */
export async function accessSftp(
  { host, environment, idleMs = 60_000, ...access }: SftpAccess,
  signal: AbortSignal,
): Promise<SftpSession> {
  // Its path is short, because that of a socket must be.
  const folder = await mkdtemp(join(tmpdir().length < 70 ? tmpdir() : "/tmp", "qd-"));
  const removeFolder = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const target = await withKeys(access, folder);
    await pin(access.target, target, { folder, environment, signal });
    const bulk = ["-S", "none", "-o", "ClearAllForwardings=yes", "-s"];
    const session = await openSftp({
      host,
      argv: ["ssh", ...sshArguments(target, folder, bulk), "--", target.host, "sftp"],
      environment,
      signal,
      idleMs,
      place: placeOf(target),
      explain: (stderr) => explainSsh(stderr, { ...namesOf(target), place: placeOf(target) }),
    });
    session.ended.addEventListener("abort", () => void removeFolder().catch(() => undefined));
    if (session.ended.aborted) await removeFolder();
    return session;
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** ssh reads a key from a file only. */
async function withKeys(
  { target, keyTexts = {} }: Pick<SftpAccess, "target" | "keyTexts">,
  folder: string,
): Promise<SshTarget> {
  const fileOf = async (name: HopName): Promise<{ keyFile?: string }> => {
    const text = keyTexts[name];
    if (text === undefined) return {};
    const keyFile = join(folder, `key-${name}`);
    await writeFile(keyFile, `${text.replace(/\r\n/g, "\n").trimEnd()}\n`, { mode: 0o600 });
    return { keyFile };
  };
  const jump = target.jump === null ? null : { ...target.jump, ...(await fileOf("jump")) };
  return { ...target, ...(await fileOf("server")), jump };
}

async function pin(
  asNamed: SshTarget,
  target: SshTarget,
  attempt: Parameters<typeof pinHostKeys>[1],
): Promise<void> {
  const name = JSON.stringify(asNamed);
  const path = knownHostsIn(attempt.folder);
  const known = pinned.get(name);
  if (known !== undefined) return writeFile(path, known, { mode: 0o600 });
  pinned.set(name, await pinHostKeys(target, attempt));
}
