// Resolves paths of the inventory.
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Replaces a leading `~/` by the home folder of the account that runs the service. */
export const expandHome = (path: string): string =>
  path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;

/** Returns the path of `file:PATH`; relative paths start at the folder of the inventory. */
export const pathOfReference = (folder: string, reference: string): string =>
  resolve(folder, expandHome(reference.slice("file:".length)));
