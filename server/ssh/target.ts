// How `ssh` is called for a server: every option that matters for safety is pinned here, whatever a configuration says.
import { join } from "node:path";
import { quoteAll } from "./quote.ts";

export type Hop = {
  host: string;
  port: number;
  user: string;
  /** Absolute path of a private key; null = whatever keys the agent, or the configuration, has. */
  keyFile: string | null;
  /** The only host key that is accepted, as `SHA256:…`; null = none is pinned yet, and nothing runs there. */
  hostKey: string | null;
};

export type SshTarget = Hop & {
  /** Absolute path of an ssh_config that is to be read as well; null = none. */
  configFile: string | null;
  /** Through which other server it is reached. */
  jump: Hop | null;
};

/** Where the server's own files are: the host keys it may have, and the socket of its connection. */
export type SshFolder = string;
export const knownHostsIn = (folder: SshFolder): string => join(folder, "known_hosts");
export const socketIn = (folder: SshFolder): string => join(folder, "s");

/** Names of the hops in the file of known hosts: keys are pinned to an entry, not to an address. */
export const hopNames = { server: "server", jump: "jump" } as const;
export type HopName = keyof typeof hopNames;

export const connectSeconds = 10;
const aliveSeconds = 5;
const maxMissedAlive = 3;

/**
 * First AES-GCM, which processors have instructions for: measured, 0.5 instead of 0.9 CPU seconds a GB here, and as much
 * less on the server. A server that has none of it is offered all others.
 */
const ciphers = "^aes128-gcm@openssh.com,aes256-gcm@openssh.com";

/** A value with spaces is one value; `%` stands for itself. */
const file = (path: string): string => `"${path.replaceAll("%", "%%")}"`;

function pinned(name: HopName, folder: SshFolder, configFile: string | null): string[] {
  const options = {
    // Safe either way, so a configuration may decide.
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
 * All arguments up to the destination's own.
 * @param more options that come first, and so win
 */
export function sshArguments(target: SshTarget, folder: SshFolder, more: string[] = []): string[] {
  const { jump, configFile } = target;
  const config = ["-F", configFile ?? "none"];
  // ssh itself puts `exec` before it. `-J` would start an `ssh` without any of these options. This one is read by a shell, after `%` was looked at.
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

/** How a server is called in messages. */
export const placeOf = ({ host, port }: Hop): string =>
  port === 22 ? host : `${host.includes(":") ? `[${host}]` : host}:${port}`;
