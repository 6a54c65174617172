// Runs all checks of an installation, each with its result and how to fix it. A check that fails does not affect the others.
import { dirname } from "node:path";
import type { Diagnosis } from "../../contract/doctor.ts";
import type { Config } from "../config.ts";
import { findAccount, ownAccount } from "../hosts/account.ts";
import type { LocalHost } from "../hosts/host.ts";
import { createFoldersHere } from "../inventory/folders-here.ts";
import { createSecretReader } from "../inventory/secrets.ts";
import { createInventoryStore } from "../inventory/store.ts";
import { expectedErrorMessage } from "../expected-error.ts";
import type { Servers } from "../ssh/servers.ts";
import type { ConnectionOptions } from "../store/storable.ts";
import { toError } from "../to-error.ts";
import { checkDatabase } from "./database.ts";
import { failed } from "./finding.ts";
import { checkInventory } from "./inventory.ts";
import { checkClock, checkDataFolder, checkNode } from "./machine.ts";
import { checkMail } from "./mail.ts";
import { checkSelfBackup, noSelfBackup } from "./self-backup.ts";
import { checkStorage } from "./storage.ts";
import { checkOwnTools, checkServerTools } from "./tools.ts";

type DiagnoseOptions = {
  config: Pick<Config, "dataFolder" | "inventoryFile" | "smtp"> &
    Partial<Pick<Config, "selfBackup">>;
  /** Variables for `env:NAME` in the inventory. */
  environment: Record<string, string | undefined>;
  /** Whether `environment` is the service's own, not that of a command. */
  isOfService: boolean;
  /** process.version */
  nodeVersion: string;
  host: LocalHost;
  /** `follow` is called with the servers of the file, which a running service may not have accepted. */
  servers: Pick<Servers, "open" | "login" | "follow" | "accounts">;
  /** Uids of the service's other accounts, which no site may have; empty where they are unknown. */
  reservedAccounts: readonly number[];
  /** @throws errors that `expectedErrorMessage` knows how to explain */
  openDatabase(): Promise<ConnectionOptions>;
  /** A check that takes longer fails, because backups and messages would have the same problem. */
  limitMs?: number;
};

export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis[]> {
  const { config, host, servers, limitMs = 10_000 } = options;
  const withinLimit = <Result>(name: string, check: (signal: AbortSignal) => Promise<Result>) =>
    checkWithin(limitMs, name, check);
  const database = await withinLimit("Database", async () =>
    checkDatabase(await options.openDatabase()),
  );
  const { opened, offsetMs } = "opened" in database ? database : { opened: null, offsetMs: null };
  try {
    const store = opened === null ? null : createInventoryStore(opened.db);
    const secrets = createSecretReader(options.environment, dirname(config.inventoryFile));
    const read = await withinLimit("Inventory", async () =>
      checkInventory({
        file: config.inventoryFile,
        accounts: {
          own: ownAccount(),
          reserved: options.reservedAccounts,
          find: findAccount,
          ...createFoldersHere(host),
        },
        stored: (await store?.listAccounts()) ?? { sites: new Map(), databases: new Map() },
        servers,
        secrets,
        isOfService: options.isOfService,
      }),
    );
    const inventory = "inventory" in read ? read.inventory : null;
    const checks: [string, (signal: AbortSignal) => Promise<Diagnosis | Diagnosis[]>][] = [
      ["Node", async () => checkNode(options.nodeVersion)],
      ["Data folder", () => checkDataFolder(config.dataFolder)],
      ["Clock", (signal) => checkClock(host, offsetMs, signal)],
      ["Database", async () => ("diagnosis" in database ? database.diagnosis : database)],
      ["Inventory", async () => ("diagnoses" in read ? read.diagnoses : read)],
    ];
    if (inventory !== null) {
      checks.push(["Tools", (signal) => checkOwnTools(inventory, host, signal)]);
      for (const server of inventory.servers)
        checks.push([
          `Server ${server.name}`,
          (signal) => checkServerTools(inventory, server, servers, signal),
        ]);
      const markedPathOf = async (id: number) => (await store?.markedPathOf(id)) ?? null;
      const parts = { inventory, servers, host, secrets, markedPathOf };
      for (const provider of inventory.storage_providers)
        checks.push([
          `Storage ${provider.name}`,
          (signal) => checkStorage(provider, { ...parts, signal }),
        ]);
    }
    if (!config.selfBackup) checks.push(["Self-backup", async () => noSelfBackup]);
    else if (opened !== null)
      checks.push(["Self-backup", () => checkSelfBackup(opened.db, Date.now())]);
    checks.push(["Mail", () => checkMail(config.smtp, inventory)]);
    const found = await Promise.all(checks.map(([name, check]) => withinLimit(name, check)));
    return found.flat();
  } finally {
    await opened?.close();
  }
}

/** @returns the result of the check, or a diagnosis of its error */
async function checkWithin<Result>(
  limitMs: number,
  name: string,
  check: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | Diagnosis> {
  const signal = AbortSignal.timeout(limitMs);
  const late = Promise.withResolvers<never>();
  const isLate = () => late.reject(new Error(`There was no result within ${limitMs / 1000} s.`));
  signal.addEventListener("abort", isLate, { once: true });
  try {
    return await Promise.race([check(signal), late.promise]);
  } catch (error) {
    return failed(name, expectedErrorMessage(error) ?? toError(error).message, null);
  } finally {
    signal.removeEventListener("abort", isLate);
  }
}
