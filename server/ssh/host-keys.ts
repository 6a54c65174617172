// Reads the host keys that a server offers, and writes the known_hosts file with the pinned one.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { explainSsh, ServerAway, toShownText } from "./server-away.ts";
import {
  connectSeconds,
  hopNames,
  knownHostsIn,
  placeOf,
  sshArguments,
  type Hop,
  type HopName,
  type SshFolder,
  type SshTarget,
} from "./target.ts";

type OfferedKey = { type: string; base64: string; fingerprint: string };

/** Each needs a connection of its own, because a server shows the key of one kind only. */
const kinds = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521",
  "rsa-sha2-512,rsa-sha2-256",
];
const maxOfferedBytes = 64 * 1024;

/** Returns the fingerprint in the format of `ssh-keygen -l`. */
const fingerprintOf = (base64: string): string =>
  `SHA256:${createHash("sha256").update(Buffer.from(base64, "base64")).digest("base64").replace(/=+$/, "")}`;

/**
 * @param until fingerprint after which no further key is requested
 * @throws ServerAway
 */
async function readOffered(
  target: SshTarget,
  { folder, environment, signal }: Attempt,
  until: string | null,
): Promise<OfferedKey[]> {
  const script = join(folder, "offer");
  const list = join(folder, "offered");
  await writeFile(script, `printf '%s %s\\n' "$1" "$2" >>"$3"\n`, { mode: 0o600 });
  const found: OfferedKey[] = [];
  let problem = "";
  for (const algorithms of kinds) {
    await rm(list, { force: true });
    // `ssh` trusts no key here, so it ends once the server has shown one, before it authenticates.
    const { stderr } = await runSsh(
      [
        ...sshArguments(target, folder, [
          "-o",
          "ControlPath=none",
          // With a lower level, `ssh` does not report that the server has no key of this kind.
          "-o",
          "LogLevel=INFO",
          "-o",
          `HostKeyAlgorithms=${algorithms}`,
          "-o",
          `KnownHostsCommand=/bin/sh "${script.replaceAll("%", "%%")}" %t %K "${list.replaceAll("%", "%%")}"`,
          "-o",
          "UserKnownHostsFile=none",
        ]),
        "--",
        target.host,
        "exit",
      ],
      environment,
      signal,
    );
    const written = await readFile(list, "utf8").catch(() => "");
    const [, type = "", base64 = ""] =
      /^([a-z0-9@.-]+) ([A-Za-z0-9+/=]+)$/m.exec(written.slice(0, maxOfferedBytes)) ?? [];
    if (type === "") problem = stderr;
    else found.push({ type, base64, fingerprint: fingerprintOf(base64) });
    // An error that is not about the kind of key would be the same for the other kinds.
    if (found.length === 0 && !/no matching host key type/i.test(problem)) break;
    if (found.at(-1)?.fingerprint === until) break;
  }
  if (found.length === 0) throw explainSsh(problem, { ...namesOf(target), place: placeOf(target) });
  return found;
}

export const namesOf = ({ user, keyFile }: Hop) => ({
  user,
  keyName: keyFile === null ? "any key of the agent" : `the key ${keyFile}`,
});

type Attempt = {
  folder: SshFolder;
  environment: Record<string, string>;
  /** Ends the attempt. */
  signal: AbortSignal;
};

/** @throws the signal's reason */
async function runSsh(
  args: string[],
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<{ stderr: string }> {
  // The exit code does not matter: what `ssh` wrote says more.
  return promisify(execFile)("ssh", args, {
    env,
    timeout: connectSeconds * 2 * 1000,
    killSignal: "SIGKILL",
    maxBuffer: maxOfferedBytes,
    signal,
  }).catch((error: Error & { stderr?: string }) => {
    signal.throwIfAborted();
    return { stderr: error.stderr ?? error.message };
  });
}

/** The server's key is not the pinned one, or no key is pinned. */
export class HostKeyUnconfirmed extends ServerAway {
  override name = "HostKeyUnconfirmed";
  /** The hop that offered the key. */
  readonly hop: HopName;
  readonly offered: readonly OfferedKey[];
  readonly isChanged: boolean;
  constructor(target: Hop, hop: HopName, offered: readonly OfferedKey[]) {
    const shown = offered.map(({ type, fingerprint }) => `${fingerprint} (${type})`).join(", ");
    const place = placeOf(target);
    super(
      "host key",
      target.hostKey === null
        ? `No host key is pinned for ${place}. It offered ${toShownText(shown)}. Compare this with the server's own console, then add it to the inventory entry as “host_key”.`
        : `The host key of ${place} has changed: it offered ${toShownText(shown)} instead of ${target.hostKey}. Nothing runs there. If somebody has replaced the key on purpose, change “host_key”; otherwise somebody may be listening in.`,
    );
    this.hop = hop;
    this.offered = offered;
    this.isChanged = target.hostKey !== null;
  }
}

/**
 * Writes the known_hosts file, with exactly the pinned keys as the server has shown them.
 * @returns its text
 * @throws ServerAway, HostKeyUnconfirmed, the signal's reason
 */
export async function pinHostKeys(target: SshTarget, attempt: Attempt): Promise<string> {
  const lines: string[] = [];
  const path = knownHostsIn(attempt.folder);
  await writeFile(path, "", { mode: 0o600 });
  const hops: [HopName, Hop][] = [
    ...(target.jump === null ? [] : [["jump", target.jump] satisfies [HopName, Hop]]),
    ["server", target],
  ];
  for (const [name, hop] of hops) {
    const asked: SshTarget =
      name === "jump" ? { ...hop, configFile: target.configFile, jump: null } : target;
    const offered = await readOffered(asked, attempt, hop.hostKey);
    const key = offered.find(({ fingerprint }) => fingerprint === hop.hostKey);
    if (key === undefined) throw new HostKeyUnconfirmed(hop, name, offered);
    lines.push(`${hopNames[name]} ${key.type} ${key.base64}\n`);
    await writeFile(path, lines.join(""), { mode: 0o600 });
  }
  return lines.join("");
}
