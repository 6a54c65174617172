// "12", "#12", "worker 12": the way to a thing whose number is known from a log, a message or a colleague.
import { paths, readId } from "../paths.ts";
import type { IconName } from "../ui/Icon.tsx";
import { type Entry, toPage } from "./entry.ts";

type Kind = {
  /** The first is its word on screen. */
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

/** The id in "12", "#12" or "worker 12"; null for what is none. */
export const readIdText = (text: string): number | null =>
  readId(/^[a-z ]*?\s*#?\s*(\d+)$/i.exec(text.trim())?.[1]);

/**
 * @param isThere whether there is such a site or server, as far as that is known
 * @param isRemembered whether one that is opened is to be remembered
 * @returns nothing for what is no id
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
