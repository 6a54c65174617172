// Drills of a site's folder on a machine that need not have the site, nor its account.
import type { Host } from "../../../../hosts/host.ts";
import type { Drill } from "../../source.ts";
import { drillThere } from "./drill.ts";
import { drillName, removeThere } from "./swap.ts";

/** @param host as the account that extracts @param root of the site, to tell its drills from those of others */
export const createFolderDrill = (host: Host, root: string): Drill => ({
  async drill(from, manifest, attempt) {
    const found = await drillThere(host, root, from, manifest, attempt);
    const databases = manifest?.kind === "folder" ? (manifest.databases?.length ?? 0) : 0;
    return databases === 0
      ? found
      : `${found} Its SQLite databases were not opened: ${databases}. Only a drill on its own server does that.`;
  },
  async settle({ id, say, signal }) {
    const left = drillName(id, root);
    const reason = await removeThere(host, left, signal);
    if (reason !== null) say(`${left} could not be removed: ${reason}.`);
  },
});
