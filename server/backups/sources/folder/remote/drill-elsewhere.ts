// Drills a site's folder on a machine that may lack the site and its account.
import type { Host } from "../../../../hosts/host.ts";
import type { Drill } from "../../source.ts";
import { drillThere } from "./drill.ts";
import { drillName, removeThere } from "./swap.ts";

/** @param host as the account that extracts @param root of the site, to distinguish its drills from others */
export const createFolderDrill = (host: Host, root: string): Drill => ({
  drill: (from, manifest, attempt) => drillThere(host, root, from, manifest, attempt),
  async settle({ id, say, signal }) {
    const left = drillName(id, root);
    const reason = await removeThere(host, left, signal);
    if (reason !== null) say(`${left} could not be removed: ${reason}.`);
  },
});
