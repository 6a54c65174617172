// The inventory as a running part: read at start, again on every change, the last good state kept.
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
  /** Where the sample's own files go, when there is no inventory yet. */
  dataFolder: string;
  store: InventoryStore;
  accounts: AccountSource;
  /** Called once the rows are those of the file. */
  onAccepted(): void;
  /** Told of the servers of a file before their accounts are decided, and of those that stay when it is refused. */
  remote: { follow(servers: Inventory["servers"]): Promise<void>; accounts: RemoteAccounts };
  /** Whether other instances read an inventory of their own into the same database. */
  isShared: boolean;
  clock: Clock;
  log: Logger;
};

/** Other instances have an inventory, and this one has none. */
export class InventoryMissing extends Error {
  override name = "InventoryMissing";
  constructor(file: string) {
    super(
      `There is no inventory in ${file}, but the database has one of other instances. Copy theirs there, or set QUARTERDECK_INVENTORY to it. An instance with QUARTERDECK_ROLE=api needs none.`,
    );
  }
}

export type LiveInventory = {
  /** Null for an instance that reads none. */
  file: string | null;
  /** Does work while nothing is read and nobody else changes the file. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Everything that a reading would have against a text. Nothing changes. */
  check(text: string): Promise<Inspected>;
  /**
   * Reads the file, for whoever changed it and is alone.
   * @param also what belongs to the same change
   * @returns why it is not in force; null = it is
   */
  take(also: (tx: Connection) => Promise<void>): Promise<string | null>;
  /** Why the file as it is now is not in force; null = it is. */
  problem(): string | null;
  /** As which account a SQLite database that it need not have would be read. */
  accountOf(entry: Inventory["databases"][number]): Promise<EntryAccount>;
  /** Reads the file now, whether a change was seen or not. */
  read(): void;
  /** A server responds: decides what could not be decided of its accounts. Resolves after 10 s at the latest. */
  catchUp(server: number): Promise<void>;
  /** From now on nothing is read. @returns once a reading that was under way is over */
  close(): Promise<void>;
};

/** An editor writes in several steps; reading waits until this much time passed without another. */
const settleMs = 150;
/** How often it is looked whether a user can be used by now. */
const lackingMs = 60_000;
/** A server that responds is not kept for longer from being called reachable. */
const catchUpMs = 10_000;

export async function openInventory(options: InventoryOptions): Promise<LiveInventory> {
  const { file, store, clock, log } = options;
  let problem: string | null = null;
  /** Servers that could not be asked for all of their accounts. */
  let unasked: ReadonlySet<number> = new Set();
  /** Servers on which an operator may be granting what a named user lacks. */
  let lacking: ReadonlySet<number> = new Set();
  let readAtMs = 0;
  /** What was logged of entries without an account: a reading that finds the same says nothing. */
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
      // Accounts of servers that are no longer followed are not what it says.
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

  /** What a reading would find beyond the text; servers are not asked for it. */
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
      ...inUse.map(({ kind, id, message }) => {
        const index = inventory[kind].findIndex((entry) => entry.id === id);
        return { path: index === -1 ? [kind] : [kind, index, "server"], message };
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
    // Later, a sample in its place would take away and change what is looked after.
    if (isFirst) await writeSample(file, options.dataFolder);
  }
  // As root, accounts of sites pass through the data folder to folders of their own.
  if (dirname(file) === options.dataFolder) await chmod(file, 0o600).catch(() => undefined);
  const schemaFile = join(options.dataFolder, "inventory.schema.json");
  await writeFile(schemaFile, JSON.stringify(inventoryJsonSchema(), null, 2), { mode: 0o600 });
  // Earlier versions left it as wide as the umask allowed.
  await chmod(schemaFile, 0o600);
  await alone(load);
  await createSecretFiles(file).removeLeft(clock.now());

  // Whoever asks for a reading while there is one gets one more, however many ask: all servers of a start, for example.
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

  // The folder is watched, not the file: editors put a new file in the old one's place.
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

/** For an instance that looks after no servers: it goes by what the others have read. */
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
