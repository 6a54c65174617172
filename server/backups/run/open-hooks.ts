// What runs before and after the backups of a source, as its inventory entry names it: for databases as for sites.
import { dirname } from "node:path/posix";
import type { Account } from "../../hosts/account.ts";
import type { Host } from "../../hosts/host.ts";
import { expandHome } from "../../inventory/paths.ts";
import { toHooks } from "../../inventory/rows.ts";
import type { DatabaseRow, InventoryStore, SiteRow } from "../../inventory/store.ts";
import { createHooks } from "./hooks.ts";
import type { Hooks } from "../sources/source.ts";

type Opening = {
  inventory: Pick<InventoryStore, "listEntriesOf">;
  /** The machine that it is on. @throws ServerAway */
  openMachine(serverId: number): Promise<Pick<Host, "as">>;
  /** @throws SourceError where it has none */
  accountOf(found: DatabaseRow | SiteRow): Account;
};

/** @returns null where nothing runs; the machine is asked only once something is to run */
export function openHooks(found: DatabaseRow | SiteRow, opening: Opening): Hooks | null {
  const commands = "entry" in found ? toHooks(found.entry.backup_hooks) : found.backupHooks;
  if (commands === null) return null;
  const place = async () => {
    const account = opening.accountOf(found);
    const machine = await opening.openMachine(found.serverId);
    const folder = "entry" in found ? await folderFor(found, account, opening) : found.root;
    return { host: machine.as(account), folder };
  };
  return createHooks(place, commands);
}

/**
 * The folder of the site that the database belongs to, for its artisan. Not where the account is another one than the site's, to
 * which its files would be foreign code.
 */
async function folderFor(
  { id, serverId, entry }: DatabaseRow,
  { uid }: Account,
  { inventory }: Opening,
): Promise<string> {
  const { sites } = await inventory.listEntriesOf(serverId);
  const [site, ...others] = sites.filter(({ databases }) => databases.includes(id));
  if (site !== undefined && others.length === 0 && site.account.account?.uid === uid)
    return site.root;
  return entry.engine === "sqlite" ? dirname(expandHome(entry.path)) : "/";
}
