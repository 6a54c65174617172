// Opens an object by its id: "12", "#12", "worker 12".
import { paths, readId } from "../paths.ts";
import type { IconName } from "../ui/Icon.tsx";
import { type Entry, toPage } from "./entry.ts";

type Kind = {
  /** The first word is shown on screen. */
  words: readonly [string, ...string[]];
  icon: IconName;
  pathOf: (id: number) => string;
  place?: "site" | "server";
};

const kinds: readonly Kind[] = [
  { words: ["worker"], icon: "restart", pathOf: paths.worker },
  { words: ["backup"], icon: "backup", pathOf: paths.backup },
  { words: ["webhook"], icon: "webhook", pathOf: (id) => paths.webhook(id) },
  {
    words: ["configuration", "backup configuration"],
    icon: "backup",
    pathOf: (id) => paths.backupConfiguration(id),
  },
  { words: ["site"], icon: "site", pathOf: (id) => paths.workers(id), place: "site" },
  { words: ["server"], icon: "server", pathOf: (id) => paths.backups(id), place: "server" },
];

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns the id in "12", "#12" or "worker 12"; null where there is none. */
export const readIdText = (text: string): number | null =>
  readId(/^[a-z ]*?\s*#?\s*(\d+)$/i.exec(text.trim())?.[1]);

/**
 * @param isThere whether such a site or server exists, as far as that is known
 * @param isRemembered whether opening one stores it on this device
 * @returns an empty list where the text is not an id
 */
export function idEntries(
  text: string,
  isThere: (kind: "site" | "server", id: number) => boolean,
  isRemembered = false,
): Entry[] {
  const [, word, digits] = /^([a-z ]*?)\s*#?\s*(\d+)$/i.exec(text.trim()) ?? [];
  const id = readId(digits);
  if (word === undefined || id === null) return [];
  return kinds
    .filter(({ words }) => word === "" || words.includes(word.toLowerCase()))
    .filter(({ place }) => place === undefined || isThere(place, id))
    .map(({ words: [name], icon, pathOf, place }) => {
      const opens = isRemembered && place ? { kind: place, id } : undefined;
      return {
        ...toPage(icon, `${capitalized(name)} ${id}`, "", pathOf(id), opens),
        group: "id" as const,
      };
    });
}
