// Opens the hooks of a database or site, as configured in the inventory.
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
  /** Opens the machine of the source. @throws ServerAway */
  openMachine(serverId: number): Promise<Pick<Host, "as">>;
  /** @throws SourceError where the entry has no account */
  accountOf(found: DatabaseRow | SiteRow): Account;
};

/** @returns null where no hooks are configured; the machine is opened only when a hook runs */
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
 * Returns the folder of the only site that uses the database, so that hooks can call its artisan, unless the hooks run as another
 * account, which must not run the site's code. Otherwise returns the folder of the SQLite file, or `/`.
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
