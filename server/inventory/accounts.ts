// Decides the account of each site and SQLite database, which runs everything that touches its files; and of each other database
// whose backups have hooks, which run as that account. Decided when the inventory is read, stored with the entry, and never
// looked up again by path.
import type { Account } from "../hosts/account.ts";
import {
  needsAccount,
  type OwnedEntry,
  pathOf,
  purposeOf,
  userFieldOf,
  userOf,
} from "./entry-account.ts";
import {
  accountGiven,
  accountOfSites,
  type AccountSource,
  cureOf,
  type EntryAccount,
  ownerOf,
  unlessReplaceable,
} from "./one-account.ts";
import { expandHome } from "./paths.ts";
import type { Complaint, Inventory } from "./schema.ts";
import { ServerAway } from "../ssh/server-away.ts";
import { toError } from "../to-error.ts";

export type EntryAccounts = Record<"sites" | "databases", Map<number, EntryAccount>>;

/** Ids of entries whose server could not be asked: their stored account is newer than the one decided here. */
export type UndecidedEntries = Record<"sites" | "databases", Set<number>>;

/** Accounts of a server over SSH. */
export type RemoteAccountSource = AccountSource & {
  /** @returns why commands cannot run as the account there, and what to do; null = they can */
  whyNotAs(account: Account): Promise<string | null>;
};

/** @returns null for this machine; a sentence for a server that cannot be asked now */
export type RemoteAccounts = (server: number) => Promise<RemoteAccountSource | string | null>;

/**
 * @param stored accounts that were decided before: the owner of a path is looked up only once
 * @param remote servers over SSH; their problems are not mistakes in the file
 * @returns the accounts, the mistakes in the file, the servers that could not be asked for all of their accounts, and those where
 * a named user cannot be used
 */
export async function decideAccounts(
  inventory: Inventory,
  stored: EntryAccounts,
  machine: AccountSource,
  remote: RemoteAccounts = async () => null,
): Promise<{
  accounts: EntryAccounts;
  complaints: Complaint[];
  unasked: ReadonlySet<number>;
  lacking: ReadonlySet<number>;
  undecided: UndecidedEntries;
}> {
  const source = { ...machine, find: onceForEach(machine.find) };
  const sourceAt = onceForEach(async (server: number) => {
    const there = await remote(server);
    return there === null || typeof there === "string" ? there : lookingUpOnce(there);
  });
  // Looked up concurrently, because each may take its time.
  const owned = [...inventory.sites, ...inventory.databases].filter(needsAccount);
  await Promise.all(owned.map(({ server }) => sourceAt(server)));
  const accounts: EntryAccounts = { sites: new Map(), databases: new Map() };
  const complaints: Complaint[] = [];
  const unasked = new Set<number>();
  const lacking = new Set<number>();
  const undecided: UndecidedEntries = { sites: new Set(), databases: new Set() };
  const decide = async (
    kind: keyof EntryAccounts,
    index: number,
    entry: OwnedEntry,
    otherwise: (source: AccountSource) => Promise<EntryAccount>,
  ) => {
    const there = await sourceAt(entry.server);
    if (there !== null) {
      const before = stored[kind].get(entry.id);
      const decided = await accountThere(entry, before, there, otherwise);
      if (decided.isUnasked) {
        unasked.add(entry.server);
        undecided[kind].add(entry.id);
      } else if (decided.account.account === null && userOf(entry) !== undefined)
        lacking.add(entry.server);
      accounts[kind].set(entry.id, decided.account);
      return;
    }
    const user = userOf(entry);
    const given = user === undefined ? null : await accountGiven(user, source);
    /** Keeps the previous decision until the next reading where the file system hangs. */
    const unlessHung = (account: Promise<EntryAccount>) =>
      account.catch((error: unknown) => {
        if (!(error instanceof ServerAway)) throw error;
        return undecidedAccount(entry, stored[kind].get(entry.id), error.message);
      });
    if (typeof given === "string")
      complaints.push({ path: [kind, index, ...userFieldOf(entry)], message: given });
    else if (given !== null)
      accounts[kind].set(
        entry.id,
        await unlessHung(unlessReplaceable(given, pathOf(entry), source)),
      );
    // Without root, everything runs as the service's own account.
    else if (source.own.uid !== 0)
      accounts[kind].set(entry.id, { account: source.own, problem: null, ownerOf: null });
    else accounts[kind].set(entry.id, await unlessHung(otherwise(source)));
  };

  /** Decides sequentially on this machine, and concurrently on others, where each command may take its time. */
  const each = async <Entry extends { server: number }>(
    entries: readonly Entry[],
    decideOne: (entry: Entry, index: number) => Promise<void>,
  ) => {
    const elsewhere: Promise<void>[] = [];
    for (const [index, entry] of entries.entries()) {
      const decided = decideOne(entry, index);
      if ((await sourceAt(entry.server)) === null) await decided;
      else elsewhere.push(decided);
    }
    await Promise.all(elsewhere);
  };

  await each(inventory.sites, (site, index) =>
    decide("sites", index, site, (source) =>
      ownerOf(expandHome(site.root), stored.sites.get(site.id), source),
    ),
  );
  await each(inventory.databases, async (database, index) => {
    if (!needsAccount(database)) return;
    await decide("databases", index, database, async (at) => {
      const path = pathOf(database);
      // The same uid on another machine is a different account.
      const users = inventory.sites.filter(
        ({ databases, server }) =>
          server === database.server && databases?.includes(database.id) === true,
      );
      if (users.length > 0) return accountOfSites(users, accounts.sites, database);
      if (path !== null) return ownerOf(path, stored.databases.get(database.id), at);
      const problem = `No account for ${purposeOf(database)}: no site of its server lists the database. ${cureOf(database)}.`;
      if (at === source)
        complaints.push({
          path: ["databases", index, ...userFieldOf(database)],
          message: problem,
        });
      return { account: null, problem, ownerOf: null };
    });
  });
  return { accounts, complaints, unasked, lacking, undecided };
}

/** Caches lookups, because many entries have the same account. */
function lookingUpOnce(there: RemoteAccountSource): RemoteAccountSource {
  const found = new Map<number, Promise<string | null>>();
  return {
    ...there,
    find: onceForEach(there.find),
    whyNotAs(account) {
      const one = found.get(account.uid) ?? there.whyNotAs(account);
      found.set(account.uid, one);
      return one;
    },
  };
}

/** Caches lookups, because each is a process, and many entries have the same account. */
function onceForEach<Key, Found>(find: (key: Key) => Promise<Found>): (key: Key) => Promise<Found> {
  const found = new Map<Key, Promise<Found>>();
  return (key) => {
    const one = found.get(key) ?? find(key);
    found.set(key, one);
    return one;
  };
}

const without = (problem: string): EntryAccount => ({ account: null, problem, ownerOf: null });

const undecidedAccount = (
  entry: OwnedEntry,
  before: EntryAccount | undefined,
  reason: string,
): EntryAccount =>
  holdsFor(entry, before) ? before : without(`No account for ${purposeOf(entry)} yet: ${reason}`);

/** Like on this machine, but what cannot be asked now keeps its previous decision, and is asked again once the server is back. */
async function accountThere(
  entry: OwnedEntry,
  before: EntryAccount | undefined,
  source: RemoteAccountSource | string,
  otherwise: (source: AccountSource) => Promise<EntryAccount>,
): Promise<{ account: EntryAccount; isUnasked: boolean }> {
  const user = userOf(entry);
  const purpose = purposeOf(entry);
  const asked = (account: EntryAccount) => ({ account, isUnasked: false });
  const unknown = (reason: string) => ({
    account: undecidedAccount(entry, before, reason),
    isUnasked: true,
  });
  if (typeof source === "string") return unknown(source);
  try {
    if (user === undefined)
      return asked(
        source.own.uid === 0
          ? await otherwise(source)
          : { account: source.own, problem: null, ownerOf: null },
      );
    const account = await source.find(user);
    if (account === null)
      return asked(without(`No account for ${purpose}: its server has no user “${user}”.`));
    const why = account.uid === source.own.uid ? null : await source.whyNotAs(account);
    return asked(
      why === null ? await unlessReplaceable(account, pathOf(entry), source) : without(why),
    );
  } catch (error) {
    return unknown(toError(error).message);
  }
}

/** Whether an account that was decided before still matches the entry. */
export const holdsFor = (
  entry: OwnedEntry,
  before: EntryAccount | null | undefined,
): before is EntryAccount =>
  before != null &&
  before.account !== null &&
  needsAccount(entry) &&
  (userOf(entry) === undefined
    ? before.ownerOf === null || before.ownerOf === pathOf(entry)
    : before.account.name === userOf(entry));
