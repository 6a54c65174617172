// Finds the inventory's entry for a path.
import { posix } from "node:path";
import { expandHome } from "../inventory/paths.ts";
import type { SiteRow } from "../inventory/store.ts";

export const isAt = (written: string, path: string) =>
  posix.normalize(expandHome(written)) === path;

export const siteAt = (sites: readonly SiteRow[], root: string): SiteRow | null =>
  sites.find((site) => isAt(site.root, root)) ?? null;
