// What a manifest has to say that an operator should see beside the backup.
import type { Manifest } from "./sources/source.ts";

const shownNames = 3;

/** @returns sentences; none = nothing odd */
export function manifestWarnings(manifest: Manifest): string[] {
  const databases = manifest.kind === "folder" ? (manifest.databases ?? []) : [];
  const unsound = databases.filter(({ problem }) => problem !== null);
  if (unsound.length === 0) return [];
  const names = unsound.slice(0, shownNames).map(({ name }) => name);
  const more = unsound.length > shownNames ? ` and ${unsound.length - shownNames} more` : "";
  const [what, is] =
    unsound.length === 1 ? ["A SQLite database", "is"] : ["SQLite databases", "are"];
  return [
    `${what} in the site ${is} damaged: ${names.join(", ")}${more}. See the output for the reason.`,
  ];
}
