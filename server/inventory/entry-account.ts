// What an entry says of the account that works for it: who, and on which path.
import { expandHome } from "./paths.ts";
import type { Inventory } from "./schema.ts";

type Site = Inventory["sites"][number];
type Database = Inventory["databases"][number];
export type OwnedEntry = Site | Database;

/** A database behind a URL has no files, and needs an account only for its hooks. */
export const needsAccount = (entry: OwnedEntry): boolean =>
  pathOf(entry) !== null || entry.backup_hooks !== undefined;

/** Its path, where it has files. */
export const pathOf = (entry: OwnedEntry): string | null =>
  "root" in entry
    ? expandHome(entry.root)
    : entry.engine === "sqlite"
      ? expandHome(entry.path)
      : null;

/** The account that it names. */
export const userOf = (entry: OwnedEntry): string | undefined =>
  "url" in entry ? entry.backup_hooks?.user : entry.user;

/** Where it names it. */
export const userFieldOf = (entry: OwnedEntry): string[] =>
  "url" in entry ? ["backup_hooks", "user"] : ["user"];

/** What the account is for, in words. */
export const purposeOf = (entry: OwnedEntry): string =>
  pathOf(entry) ?? `the backup hooks of ${entry.name}`;
