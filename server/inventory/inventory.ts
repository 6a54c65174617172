// The live inventory: read at the start and after every change; a file with mistakes leaves the last good state in force.
import { watch } from "node:fs";
import { access, chmod, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { decideAccounts, type EntryAccounts, type RemoteAccounts } from "./accounts.ts";
import type { AccountSource, EntryAccount } from "./one-account.ts";
import type { Complaint, Inventory } from "./schema.ts";
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import { messageOf } from "../loggable-error.ts";
import { makeFolders } from "../make-folders.ts";
import { inspect, type Inspected, InventoryError, readText } from "./file.ts";
import { writeSample } from "./sample.ts";
import { inventoryJsonSchema } from "./schema.ts";
import { createSecretFiles } from "./secret-files.ts";
import type { InventoryStore } from "./store.ts";
import type { Connection } from "../store/database.ts";

type InventoryOptions = {
  file: string;
  /** Folder of the sample's files, which are created when there is no inventory yet. */
  dataFolder: string;
  store: InventoryStore;
  accounts: AccountSource;
  /** Called once the rows match the file. */
  onAccepted(): void;
  /**
   * `follow` is called with the servers of a file before their accounts are decided, and with those that stay when the file is
   * refused.
   */
  remote: { follow(servers: Inventory["servers"]): Promise<void>; accounts: RemoteAccounts };
  /** Whether other instances read an inventory into the same database. */
  isShared: boolean;
  clock: Clock;
  log: Logger;
};

/** This instance has no inventory file, and other instances have one. */
export class InventoryMissing extends Error {
  override name = "InventoryMissing";
  constructor(file: string) {
    super(
      `There is no inventory in ${file}, but the database has one of other instances. Copy theirs there, or set QUARTERDECK_INVENTORY to it. An instance with QUARTERDECK_ROLE=api needs none.`,
    );
  }
}

export type LiveInventory = {
  /** Null for an instance that reads no file. */
  file: string | null;
  /** Runs work while no reading and no other change of the file runs. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Checks a text like a reading, without changing anything. */
  check(text: string): Promise<Inspected>;
  /**
   * Reads the file, for a caller inside `alone` that has changed it.
   * @param also stores what belongs to the same change, in its transaction
   * @returns why the file is not in force; null = it is
   */
  take(also: (tx: Connection) => Promise<void>): Promise<string | null>;
  /** Returns why the present file is not in force; null = it is. */
  problem(): string | null;
  /** Returns the account that would read a SQLite database that need not be in the inventory. */
  accountOf(entry: Inventory["databases"][number]): Promise<EntryAccount>;
  /** Reads the file now, even without a noticed change. */
  read(): void;
  /** Called when a server responds: decides accounts that were undecided. Resolves after 10 s at the latest. */
  catchUp(server: number): Promise<void>;
  /**
   * Stops reading.
   * @returns once a reading that was running has ended
   */
  close(): Promise<void>;
};

/** An editor writes in several steps; reading waits until so much time has passed without a change. */
const settleMs = 150;
/** How often to check whether a user can be used by now. */
const lackingMs = 60_000;
/** How long a server that responds waits at most before it counts as reachable. */
const catchUpMs = 10_000;

export async function openInventory(options: InventoryOptions): Promise<LiveInventory> {
  const { file, store, clock, log } = options;
  let problem: string | null = null;
  /** Servers with undecided accounts. */
  let unasked: ReadonlySet<number> = new Set();
  /** Servers where the operator may be granting the rights that a named user lacks. */
  let lacking: ReadonlySet<number> = new Set();
  let readAtMs = 0;
  /** What was logged about entries without an account, so that a reading with the same result logs nothing. */
  let told: ReadonlySet<string> = new Set();
  let atReading: (() => void)[] = [];

  let last: Promise<unknown> = Promise.resolve();
  const alone = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };

  const load = async (stopping?: AbortSignal, also?: (tx: Connection) => Promise<void>) => {
    readAtMs = clock.now();
    try {
      const { inventory, complaints, tell } = inspect(await readText(file));
      if (inventory === null) throw new InventoryError(file, complaints.map(tell));
      await options.remote.follow(inventory.servers);
      const { accounts: here, remote } = options;
      const before = await store.listAccounts();
      const decided = await decideAccounts(inventory, before, here, remote.accounts);
      const { accounts } = decided;
      ({ unasked, lacking } = decided);
      if (decided.complaints.length > 0)
        throw new InventoryError(file, decided.complaints.map(tell));
      // After a stop, accounts of servers may be missing because their connections are closed.
      if (stopping?.aborted === true) return;
      const inUse = await store.replace(inventory, decided, also);
      if (inUse.length > 0) throw new InventoryError(file, inUse);
      if (problem !== null) log.info({ file }, "the inventory is in force again");
      problem = null;
      tellWithoutAccount(accounts);
      options.onAccepted();
    } catch (error) {
      if (stopping?.aborted === true) return;
      problem = messageOf(error);
      await followStored().catch(() => undefined);
      log.error({ file, problem }, "the inventory stays as it was");
    }
  };

  const followStored = async () => options.remote.follow(await store.listServerEntries());

  /** Checks what a reading would find beyond the text, without asking other servers. */
  async function checkOnMachine(inventory: Inventory): Promise<Complaint[]> {
    const isLocal = new Map(
      inventory.servers.map(({ id, connection }) => [id, connection === "local"]),
    );
    const { complaints } = await decideAccounts(
      inventory,
      await store.listAccounts(),
      options.accounts,
      async (id) => (isLocal.get(id) === true ? null : "not asked"),
    );
    const inUse = await store.stillUsed(inventory);
    return [
      ...complaints,
      ...inUse.map(({ kind, id, field, message }) => {
        const index = inventory[kind].findIndex((entry) => entry.id === id);
        return { path: index === -1 ? [kind] : [kind, index, field], message };
      }),
    ];
  }

  const tellWithoutAccount = (accounts: EntryAccounts) => {
    const missing = Object.entries(accounts).flatMap(([kind, decided]) =>
      [...decided].flatMap(([id, { problem: why }]) =>
        why === null ? [] : [{ kind, id, problem: why }],
      ),
    );
    const key = (one: (typeof missing)[number]) => JSON.stringify(one);
    for (const one of missing) if (!told.has(key(one))) log.warn(one, "an entry has no account");
    told = new Set(missing.map(key));
  };

  makeFolders(dirname(file), 0o755);
  if (!(await exists(file))) {
    const isFirst = (await store.allServers()).length === 0;
    if (!isFirst && options.isShared) throw new InventoryMissing(file);
    // Only at the first start: later, a sample in place of the file would remove what it looks after.
    if (isFirst) await writeSample(file, options.dataFolder);
  }
  // As root, accounts of sites pass through the data folder to folders of their own.
  if (dirname(file) === options.dataFolder) await chmod(file, 0o600).catch(() => undefined);
  const schemaFile = join(options.dataFolder, "inventory.schema.json");
  await writeFile(schemaFile, JSON.stringify(inventoryJsonSchema(), null, 2), { mode: 0o600 });
  // Earlier versions left it as accessible as the umask allowed.
  await chmod(schemaFile, 0o600);
  await alone(load);
  await createSecretFiles(file).removeLeft(clock.now());

  // Requests during a reading lead to one more reading, however many they are, such as those of all servers at a start.
  const loop = createLoop({
    name: "reading of the inventory",
    everyMs: () => null,
    async turn(stopping) {
      const goOn = atReading;
      atReading = [];
      await alone(() => load(stopping));
      for (const step of goOn) step();
    },
    clock,
    log,
  });

  // The folder is watched instead of the file, because editors replace the file.
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(file), (_event, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(loop.wake, settleMs);
  });
  watcher.on("error", (error) => log.error({ err: error, file }, "the inventory is not watched"));

  return {
    file,
    alone,
    async check(text) {
      const inspected = inspect(text);
      if (inspected.inventory === null) return inspected;
      const complaints = await checkOnMachine(inspected.inventory);
      return complaints.length === 0 ? inspected : { ...inspected, inventory: null, complaints };
    },
    async take(also) {
      await load(undefined, also);
      return problem;
    },
    async accountOf(entry) {
      const { servers, sites } = await store.entries();
      const { accounts, complaints } = await decideAccounts(
        {
          servers,
          sites: sites.filter(({ databases }) => databases?.includes(entry.id)),
          databases: [entry],
          storage_providers: [],
          notification_channels: [],
        },
        { sites: new Map(), databases: new Map() },
        options.accounts,
        options.remote.accounts,
      );
      const [complaint] = complaints;
      const without = complaint?.message ?? "No account is known for this database.";
      return accounts.databases.get(entry.id) ?? { account: null, problem: without, ownerOf: null };
    },
    problem: () => problem,
    read: loop.wake,
    async catchUp(server) {
      if (lacking.has(server) && clock.now() - readAtMs >= lackingMs) loop.wake();
      if (!unasked.has(server)) return;
      const read = new Promise<void>((resolve) => atReading.push(resolve));
      loop.wake();
      await Promise.race([read, wait(catchUpMs, undefined, { ref: false })]);
    },
    close() {
      clearTimeout(timer);
      watcher.close();
      return loop.stop().then(() => alone(async () => undefined));
    },
  };
}

/** For an instance that looks after no servers: it uses what the others have read. */
export const openNone = async (): Promise<LiveInventory> => ({
  file: null,
  alone: (work) => work(),
  check: async (text) => inspect(text),
  take: async () => null,
  accountOf: async () => ({
    account: null,
    problem: "This instance looks after no servers.",
    ownerOf: null,
  }),
  problem: () => null,
  read: () => undefined,
  catchUp: async () => undefined,
  close: async () => undefined,
});

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );
