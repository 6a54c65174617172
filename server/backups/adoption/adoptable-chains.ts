// Leaves out files that cannot be adopted, including those whose full is missing.
import { dirname } from "node:path/posix";
import { adoptionShown } from "../../../contract/backups/adoption.ts";
import { isEncrypted } from "../../encryption/encrypt.ts";
import { toShownText } from "../../ssh/server-away.ts";
import type { AdoptableFile, AdoptableFiles } from "./adoptable-manifest.ts";

/** Notes why a file is not adopted. */
export function leaveOut(found: AdoptableFiles, path: string, reason: string): void {
  found.leftOutTotal += 1;
  if (found.leftOut.length < adoptionShown.leftOut)
    found.leftOut.push({ path: toShownText(path, 1024), reason });
}

/** Returns the reason for leaving out a file whose full is missing. */
export const withoutFull = (baseKey: string): string =>
  `It holds what has changed since ${toShownText(baseKey, 1024)}, which is missing, left out or another file.`;

/** Returns the key of the full that a file needs; null = it is a full itself. */
export const baseKeyOf = ({ key, manifest: { base } }: AdoptableFile): string | null =>
  base === undefined ? null : `${dirname(key)}/${base.name}`;

/** Returns the files without those whose full is missing. */
export function withTheirFulls(
  files: readonly AdoptableFile[],
  isKnown: (key: string) => boolean,
  leaveOut: (file: AdoptableFile, reason: string) => void,
): AdoptableFile[] {
  const fulls = new Map(files.map((file) => [file.key, file]));
  return files.filter((file) => {
    const baseKey = baseKeyOf(file);
    if (baseKey === null || isKnown(baseKey)) return true;
    const base = fulls.get(baseKey);
    const isThere =
      base !== undefined &&
      base.manifest.base === undefined &&
      base.manifest.sha256 === file.manifest.base?.sha256 &&
      isEncrypted(base.key) === isEncrypted(file.key);
    if (!isThere) leaveOut(file, withoutFull(baseKey));
    return isThere;
  });
}
