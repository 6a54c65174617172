// Suggests names for the inventory from paths of folders and files.
import { posix } from "node:path";

/** Folder names that are too general for the name of a site. */
const generic = new Set([
  "app",
  "application",
  "current",
  "htdocs",
  "html",
  "httpdocs",
  "laravel",
  "public_html",
  "releases",
  "site",
  "src",
  "web",
  "www",
  // Folders that usually contain sites.
  "home",
  "opt",
  "srv",
  "var",
]);

/** Returns the innermost folder whose name is not generic, e.g. `shop.example.com` of `/srv/shop.example.com/current`. */
export function siteName(root: string): string {
  const folders = root.split("/").filter((folder) => folder !== "");
  return folders.findLast((folder) => !generic.has(folder)) ?? folders.at(-1) ?? root;
}

/** Returns the site's name, followed by the file's unless that is Laravel's default, `database`. */
export function databaseName(path: string, siteRoot: string): string {
  const file = posix.basename(path).replace(/\.(?:sqlite3?|db)$/, "");
  return file === "database" ? siteName(siteRoot) : `${siteName(siteRoot)} ${file}`;
}

/**
 * Returns the folder that stays the same over deployments: for `/srv/shop/releases/20260101/artisan` that is `/srv/shop/current`, a
 * link to the newest release.
 */
export const siteRoot = (artisan: string): string =>
  posix.dirname(artisan).replace(/\/releases\/[^/]+$/, "/current");
