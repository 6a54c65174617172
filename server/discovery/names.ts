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
  // Where sites usually are.
  "home",
  "opt",
  "srv",
  "var",
]);

/** The nearest folder with a name of its own, e.g. `shop.example.com` of `/srv/shop.example.com/current`. */
export function siteName(root: string): string {
  const folders = root.split("/").filter((folder) => folder !== "");
  return folders.findLast((folder) => !generic.has(folder)) ?? folders.at(-1) ?? root;
}

/** The site's name, and the file's where that is not Laravel's own. */
export function databaseName(path: string, siteRoot: string): string {
  const file = posix.basename(path).replace(/\.(?:sqlite3?|db)$/, "");
  return file === "database" ? siteName(siteRoot) : `${siteName(siteRoot)} ${file}`;
}

/**
 * The folder that a deployment keeps: of `/srv/shop/releases/20260101/artisan` that is `/srv/shop/current`, which leads to
 * the newest release.
 */
export const siteRoot = (artisan: string): string =>
  posix.dirname(artisan).replace(/\/releases\/[^/]+$/, "/current");
