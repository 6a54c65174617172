// Opens the servers of the inventory: this machine, and those over SSH with their connections.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { LocalHost, Host } from "../hosts/host.ts";
import type { RemoteAccounts } from "../inventory/accounts.ts";
import { expandHome, pathOfReference } from "../inventory/paths.ts";
import type { Inventory } from "../inventory/schema.ts";
import { toError } from "../to-error.ts";
import { createConnection, type Asking, type Connection } from "./connection.ts";
import { createLimiter } from "./limiter.ts";
import { createRemoteAccounts } from "./remote-accounts.ts";
import { openRemoteHost } from "./remote-host.ts";
import { ServerAway } from "./server-away.ts";
import type { Hop, SshTarget } from "./target.ts";

type Entries = Inventory["servers"];
type SshEntry = Exclude<Entries[number]["connection"], "local">["ssh"];

export type RemoteServer = { id: number; name: string; target: SshTarget; connection: Connection };

export type Servers = {
  /** @throws ServerAway where the server cannot be used now */
  open(id: number, asking?: Asking): Promise<Host>;
  /**
   * Returns null for this machine.
   * @throws ServerAway for a server that is not in the inventory
   */
  find(id: number): RemoteServer | null;
  /** Returns the servers over SSH. */
  list(): RemoteServer[];
  /** Applies the inventory; connections that were removed or changed end. */
  follow(entries: Entries): Promise<void>;
  accounts: RemoteAccounts;
  /** Returns how to reach a login that is not a server of the inventory. */
  login(ssh: SshEntry): { target: SshTarget; environment: Record<string, string> };
  close(): Promise<void>;
};

/** Limit over all servers: more at once would look like an attack to a firewall, and load this machine. */
const maxAttempts = 10;
/** A server that takes longer for a reply counts as unreachable. */
const answerMs = 10_000;
/** How long reading the inventory waits for a server at most. */
const askMs = 3000;
/** The longest path of a socket (unix(7)), without the suffix that `ssh` adds. */
const maxSocketPath = 100 - 24;

/**
 * @param environment see `sshEnvironment`
 * @param inventoryFolder base of relative paths of keys
 */
export function createServers(options: {
  local: LocalHost;
  environment: Record<string, string>;
  inventoryFolder: string;
}): Servers {
  const attempts = createLimiter(maxAttempts);
  const remote = new Map<number, RemoteServer>();
  const local = new Set<number>();
  let folder: Promise<string> | null = null;
  let made = 0;

  async function makeFolder(): Promise<string> {
    const base = tmpdir().length < maxSocketPath ? tmpdir() : "/tmp";
    return mkdtemp(join(base, "qd-"));
  }

  const servers: Servers = {
    async open(id, asking) {
      const found = servers.find(id);
      return found === null ? options.local : openRemoteHost(found.connection, asking);
    },
    find(id) {
      if (local.has(id)) return null;
      const found = remote.get(id);
      if (found === undefined)
        throw new ServerAway("setup", "The server is no longer in the inventory.");
      return found;
    },
    list: () => [...remote.values()],
    async follow(entries) {
      local.clear();
      const left = new Set(remote.keys());
      for (const { id, name, connection } of entries) {
        if (connection === "local") {
          local.add(id);
          continue;
        }
        left.delete(id);
        const target = targetOf(connection.ssh, options.inventoryFolder);
        const found = remote.get(id);
        if (found !== undefined && isDeepStrictEqual(found.target, target)) {
          found.name = name;
          // An operator who saves the inventory expects a new attempt at once.
          found.connection.retryNow();
          continue;
        }
        folder ??= makeFolder();
        made += 1;
        const replacing = createConnection({
          target,
          folder: join(await folder, String(made)),
          environment: options.environment,
          attempts,
          answerMs,
        });
        remote.set(id, { id, name, target, connection: replacing });
        void found?.connection.close();
      }
      for (const id of left) {
        void remote.get(id)?.connection.close();
        remote.delete(id);
      }
    },
    async accounts(id) {
      const found = remote.get(id);
      if (found === undefined) return null;
      try {
        return createRemoteAccounts(
          await openRemoteHost(found.connection, { signal: AbortSignal.timeout(askMs) }),
        );
      } catch (error) {
        const { name, message } = toError(error);
        return name === "TimeoutError" ? `${found.name} did not respond in time.` : message;
      }
    },
    login: (ssh) => ({
      target: targetOf(ssh, options.inventoryFolder),
      environment: options.environment,
    }),
    async close() {
      await Promise.all([...remote.values()].map(({ connection }) => connection.close()));
      remote.clear();
      if (folder !== null) await rm(await folder, { recursive: true, force: true });
    },
  };
  return servers;
}

const hopOf = (
  { host, port = 22, user, key, host_key }: Omit<SshEntry, "jump" | "config">,
  folder: string,
): Hop => ({
  host,
  port,
  user,
  keyFile: key === "agent" ? null : pathOfReference(folder, key),
  hostKey: host_key ?? null,
});

export const targetOf = ({ config, jump, ...hop }: SshEntry, folder: string): SshTarget => ({
  ...hopOf(hop, folder),
  configFile: config === undefined ? null : expandHome(config),
  jump: jump === undefined ? null : hopOf(jump, folder),
});
