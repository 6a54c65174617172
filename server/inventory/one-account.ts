// Decides the account of one site or database: the one that its entry names, the owner of its path, or that of its sites.
import { dirname } from "node:path";
import { accountName, type Account } from "../hosts/account.ts";
import type { FolderOwner } from "../hosts/folder-owner.ts";
import { type OwnedEntry, userFieldOf } from "./entry-account.ts";
import type { Inventory } from "./schema.ts";
import { ServerAway } from "../ssh/server-away.ts";
import { toError } from "../to-error.ts";

export type EntryAccount = {
  /** Null if there is none; then nothing accesses the entry's files. */
  account: Account | null;
  /** Why there is none, and what to do. */
  problem: string | null;
  /** The path whose owner the account was when the entry was accepted; null where the inventory names the account. */
  ownerOf: string | null;
};

/** Accounts and owners of a machine. */
export type AccountSource = {
  /** The account that the service runs as. */
  own: Account;
  /** Uids of the service's other accounts, which no site may have. */
  reserved: readonly number[];
  find(name: string | number): Promise<Account | null>;
  /** @throws the file system's error for a path that does not exist */
  findOwner(path: string): Promise<FolderOwner>;
  /** @throws like `findOwner` */
  findReplacer(path: string, uid: number): Promise<string | null>;
};

type Site = Inventory["sites"][number];

/** Refuses an account whose folder another user can replace, because that user could run code as the account. */
export async function unlessReplaceable(
  account: Account,
  path: string | null,
  source: AccountSource,
): Promise<EntryAccount> {
  const replacer =
    source.own.uid === 0 && path !== null
      ? await source.findReplacer(path, account.uid).catch((error: NodeJS.ErrnoException) => {
          // This error says nothing about the folder.
          if (error instanceof ServerAway) throw error;
          if (error.code === "ENOENT") return null;
          return error.message;
        })
      : null;
  return replacer === null
    ? { account, problem: null, ownerOf: null }
    : {
        account: null,
        problem: `Couldn't use the account ${accountName(account)} for ${path}: ${replacer}. Move the path to a folder that only root and ${accountName(account)} may write to.`,
        ownerOf: null,
      };
}

/** @returns the account, or why it cannot be used */
export async function accountGiven(user: string, source: AccountSource): Promise<Account | string> {
  const account = await source.find(user);
  if (account === null) return `This machine has no user “${user}”.`;
  const { own, reserved } = source;
  if (own.uid !== 0 && account.uid !== own.uid)
    return `Quarterdeck runs as ${accountName(own)} and cannot run anything as ${user}. Remove “user”, or run Quarterdeck as root.`;
  if (reserved.includes(account.uid))
    return `“${user}” is the account of Quarterdeck's own database. Choose another account.`;
  return account;
}

const cure = "Set “user” in its inventory entry";
export const cureOf = (entry: OwnedEntry) => cure.replace("user", userFieldOf(entry).join("."));

export async function ownerOf(
  path: string,
  stored: EntryAccount | undefined,
  source: AccountSource,
): Promise<EntryAccount> {
  if (stored?.ownerOf === path && stored.account !== null) return stored;
  const without = (problem: string) => ({ account: null, problem, ownerOf: path });
  const owner = await findOwner(path, source).catch((error: Error) => {
    if (error instanceof ServerAway) throw error;
    return { problem: error.message };
  });
  if (owner === null)
    return without(
      `No account for ${path}: it did not exist when the inventory was read. ${cure}, or create it and save the inventory again.`,
    );
  if ("problem" in owner)
    return without(
      `No account for ${path}: ${owner.problem}. ${owner.problem.includes("could") ? "Move it to a folder that nobody else may write to" : cure}${owner.problem === "it belongs to root" ? " (“user: root” if its code may run as root)" : ""}.`,
    );
  if (source.reserved.includes(owner.uid))
    return without(
      `No account for ${path}: it belongs to the account of Quarterdeck's own database. ${cure}.`,
    );
  const { uid, gid } = owner;
  const account = (await source.find(uid)) ?? {
    uid,
    // Without an entry in the user database only the folder's group is known, and root's group must not be used.
    gid: gid === 0 ? uid : gid,
    name: "",
    home: "/",
  };
  return { account, problem: null, ownerOf: path };
}

/** @returns null for a path that does not exist, unless a folder above determines its owner */
async function findOwner(path: string, source: AccountSource): Promise<FolderOwner | null> {
  const find = async (at: string) => {
    try {
      return await source.findOwner(at);
    } catch (error) {
      if (toError(error).code === "ENOENT") return null;
      throw error;
    }
  };
  const owner = await find(path);
  if (owner !== null) return owner;
  const above = await find(dirname(path));
  return above === null || "problem" in above ? null : above;
}

/** Returns the account of the sites that list a database. */
export function accountOfSites(
  sites: readonly Site[],
  accounts: ReadonlyMap<number, EntryAccount>,
  database: OwnedEntry,
): EntryAccount {
  const decided = sites.flatMap(({ id }) => accounts.get(id) ?? []);
  const [first] = decided;
  const isShared = decided.some(({ account }) => account?.uid !== first?.account?.uid);
  if (first !== undefined && !isShared) return { ...first, ownerOf: null };
  return {
    account: null,
    problem: `Sites with different accounts use this database: ${sites.map(({ name }) => name).join(", ")}. ${cureOf(database)}.`,
    ownerOf: null,
  };
}
