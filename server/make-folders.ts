import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it that are missing. Node's `recursive` never ends where the system says of a folder that
 * can't be made that it is not there, as below /proc.
 * @param mode of the folder itself; those above may be entered by everyone
 * @throws what the system says
 */
export function makeFolders(folder: string, mode: number): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder), 0o755);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Somebody else made it just now.
    if (!existsSync(folder)) throw error;
  }
}
