// Reads from an entry which account works for it, and on which path.
import { expandHome } from "./paths.ts";
import type { Inventory } from "./schema.ts";

type Site = Inventory["sites"][number];
type Database = Inventory["databases"][number];
export type OwnedEntry = Site | Database;

/** Whether the entry needs an account. A database behind a URL has no files, and needs one only for its hooks. */
export const needsAccount = (entry: OwnedEntry): boolean =>
  pathOf(entry) !== null || entry.backup_hooks !== undefined;

/** Path of the entry's files; null = it has none. */
export const pathOf = (entry: OwnedEntry): string | null =>
  "root" in entry
    ? expandHome(entry.root)
    : entry.engine === "sqlite"
      ? expandHome(entry.path)
      : null;

/** Name of the account in the entry. */
export const userOf = (entry: OwnedEntry): string | undefined =>
  "url" in entry ? entry.backup_hooks?.user : entry.user;

/** Path of the field with that name. */
export const userFieldOf = (entry: OwnedEntry): string[] =>
  "url" in entry ? ["backup_hooks", "user"] : ["user"];

/** Purpose of the account, for messages. */
export const purposeOf = (entry: OwnedEntry): string =>
  pathOf(entry) ?? `the backup hooks of ${entry.name}`;
