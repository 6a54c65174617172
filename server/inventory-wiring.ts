// Wires the inventory to the servers that it lists: a change of the file updates their connections, and when a server responds
// again, its undecided accounts are decided.
import { dirname } from "node:path";
import type { AppOptions } from "./app-options.ts";
import { findAccount, ownAccount } from "./hosts/account.ts";
import { createLocalHost } from "./hosts/local.ts";
import type { Leases } from "./instances/leases.ts";
import { createFoldersHere } from "./inventory/folders-here.ts";
import { openInventory, openNone } from "./inventory/inventory.ts";
import { createSecretReader } from "./inventory/secrets.ts";
import { createInventoryStore } from "./inventory/store.ts";
import { sshEnvironment } from "./ssh/environment.ts";
import { createReachability, type Reachability } from "./ssh/reachability.ts";
import { createServers } from "./ssh/servers.ts";
import type { Database } from "./store/database.ts";

type InventoryWiringOptions = Pick<
  AppOptions,
  | "inventoryFile"
  | "dataFolder"
  | "reservedAccounts"
  | "secrets"
  | "workerEnvironment"
  | "clock"
  | "log"
> & {
  db: Database;
  leases: Leases;
  /** Whether this instance looks after servers; otherwise it reads no inventory file. */
  isRunner: boolean;
  /** Called once the rows match the file. */
  onInventory(): void;
  /** Called when a server responds again. */
  onReached(serverId: number): void;
};

/** Why an account on a server cannot be decided while this instance does not look after the server. */
const notOurs = "no instance of the service looks after its server yet.";

export async function wireInventory(options: InventoryWiringOptions) {
  const { db, leases, clock, log } = options;
  const store = createInventoryStore(db);
  const { PATH = "", HOME = "/" } = options.workerEnvironment;
  const host = createLocalHost({ PATH, HOME });
  const inventoryFolder = dirname(options.inventoryFile);
  const ssh = { environment: sshEnvironment({ PATH, HOME }, options.secrets), inventoryFolder };
  const servers = createServers({ local: host, ...ssh });
  let started: Reachability | null = null;
  const inventory = await (options.isRunner ? openInventory : openNone)({
    file: options.inventoryFile,
    dataFolder: options.dataFolder,
    isShared: leases.isShared,
    store,
    accounts: {
      own: ownAccount(),
      reserved: options.reservedAccounts,
      find: findAccount,
      ...createFoldersHere(host),
    },
    remote: {
      follow: servers.follow,
      accounts: async (id) => (leases.has(id) ? servers.accounts(id) : notOurs),
    },
    onAccepted() {
      leases.wake();
      started?.wake();
      options.onInventory();
    },
    clock,
    log,
  });
  const reachability = createReachability({
    db,
    servers,
    leases,
    // Decides the accounts that were undecided while the server was unreachable.
    onResponse: inventory.catchUp,
    onReached(id) {
      inventory.read();
      options.onReached(id);
    },
    clock,
    log,
  });
  started = reachability;
  reachability.wake();
  return {
    store,
    inventory,
    host,
    servers,
    reachability,
    ssh,
    secrets: createSecretReader(options.secrets, inventoryFolder),
  };
}

export type WiredInventory = Awaited<ReturnType<typeof wireInventory>>;
