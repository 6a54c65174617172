// Arguments of `ssh` for a server. They set every option that matters for safety, so that no configuration file can change it.
import { join } from "node:path";
import { quoteAll } from "./quote.ts";

export type Hop = {
  host: string;
  port: number;
  user: string;
  /** Absolute path of a private key; null = the keys of the agent or of the configuration. */
  keyFile: string | null;
  /** The only accepted host key, as `SHA256:…`; null = none is pinned, and nothing runs there. */
  hostKey: string | null;
};

export type SshTarget = Hop & {
  /** Absolute path of an ssh_config to read as well; null = none. */
  configFile: string | null;
  /** The server through which this one is reached; null = none. */
  jump: Hop | null;
};

/** The folder with the server's known_hosts file and the socket of its connection. */
export type SshFolder = string;
export const knownHostsIn = (folder: SshFolder): string => join(folder, "known_hosts");
export const socketIn = (folder: SshFolder): string => join(folder, "s");

/** Names of the hops in the known_hosts file: keys are pinned to an entry, not to an address. */
export const hopNames = { server: "server", jump: "jump" } as const;
export type HopName = keyof typeof hopNames;

export const connectSeconds = 10;
const aliveSeconds = 5;
const maxMissedAlive = 3;

/**
 * AES-GCM comes first, because processors have instructions for it: measured, 0.5 instead of 0.9 CPU seconds per GB, here and
 * about the same on the server. `^` keeps all other ciphers as a fallback.
 */
const ciphers = "^aes128-gcm@openssh.com,aes256-gcm@openssh.com";

/** Quotes a path as one value, and escapes `%`. */
const file = (path: string): string => `"${path.replaceAll("%", "%%")}"`;

function pinned(name: HopName, folder: SshFolder, configFile: string | null): string[] {
  const options = {
    // All ciphers that ssh offers are safe, so a configuration file may choose them.
    ...(configFile === null ? { Ciphers: ciphers } : {}),
    BatchMode: "yes",
    StrictHostKeyChecking: "yes",
    UserKnownHostsFile: file(knownHostsIn(folder)),
    GlobalKnownHostsFile: "none",
    HostKeyAlias: hopNames[name],
    CheckHostIP: "no",
    UpdateHostKeys: "no",
    VerifyHostKeyDNS: "no",
    PreferredAuthentications: "publickey",
    ConnectTimeout: String(connectSeconds),
    ConnectionAttempts: "1",
    ServerAliveInterval: String(aliveSeconds),
    ServerAliveCountMax: String(maxMissedAlive),
    ForwardAgent: "no",
    ForwardX11: "no",
    Tunnel: "no",
    PermitLocalCommand: "no",
    RemoteCommand: "none",
    RequestTTY: "no",
    ControlPersist: "no",
    LogLevel: "ERROR",
  };
  return Object.entries(options).flatMap(([option, value]) => ["-o", `${option}=${value}`]);
}

const reached = ({ port, user, keyFile }: Hop): string[] => [
  "-p",
  String(port),
  "-l",
  user,
  ...(keyFile === null
    ? []
    : [
        "-o",
        `IdentityFile=${file(keyFile)}`,
        "-o",
        "IdentitiesOnly=yes",
        "-o",
        "IdentityAgent=none",
      ]),
];

/**
 * Returns all arguments before the destination.
 * @param more options that come first, and therefore take precedence
 */
export function sshArguments(target: SshTarget, folder: SshFolder, more: string[] = []): string[] {
  const { jump, configFile } = target;
  const config = ["-F", configFile ?? "none"];
  // `ssh` adds the `exec` itself. `-J` would start an `ssh` without these options. A shell reads this command, after `ssh` has
  // expanded `%`.
  const proxy =
    jump === null
      ? []
      : [
          "-o",
          `ProxyCommand=${quoteAll([
            "ssh",
            ...config,
            "-o",
            "ControlPath=none",
            ...pinned("jump", folder, configFile),
            ...reached(jump),
            "-W",
            "[%h]:%p",
            "--",
            jump.host,
          ])
            .replaceAll("%", "%%")
            .replaceAll("[%%h]:%%p", "[%h]:%p")}`,
        ];
  return [
    ...config,
    ...more,
    ...pinned("server", folder, configFile),
    ...proxy,
    ...reached(target),
  ];
}

/** Returns how messages name a server. */
export const placeOf = ({ host, port }: Hop): string =>
  port === 22 ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
