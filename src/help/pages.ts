// The pages of the help: the files in docs/, each loaded when it is opened. The page about the look is excluded: it
// consists of pictures, which no installation needs.
import type { HelpPageContent } from "./blocks.ts";

const files = import.meta.glob<HelpPageContent>(
  ["../../docs/*.md", "!../../docs/look.md", "../../docs/decisions/*.md"],
  { import: "page" },
);

/** "backups" of "../../docs/backups.md". */
const nameOf = (file: string): string => file.replace(/^.*\//, "").replace(/\.md$/, "");

const loaders = new Map(Object.entries(files).map(([file, load]) => [nameOf(file), load]));

/** Returns null for an unknown page. */
export const loadHelp = async (name: string): Promise<HelpPageContent | null> =>
  (await loaders.get(name)?.()) ?? null;

/** The target of a link in a page. */
type HelpTarget =
  | { kind: "page"; name: string; anchor: string }
  | { kind: "web"; url: string }
  /** A file of the repository that is not a page of the help. */
  | { kind: "file" };

export function readTarget(to: string, current: string): HelpTarget {
  if (/^https?:/.test(to)) return { kind: "web", url: to };
  const [file = "", anchor = ""] = to.split("#");
  const name = file === "" ? current : nameOf(file);
  return file === "" || (file.endsWith(".md") && loaders.has(name))
    ? { kind: "page", name, anchor }
    : { kind: "file" };
}
