// Applies the excludes of a backup of a folder: as a test of names here, and as an expression of find(1) on other machines.
import { z } from "zod/mini";
import {
  type ExcludeRule,
  excludePatterns,
  parsePatterns,
  type PatternPart,
} from "../../../../contract/backups/exclude-patterns.ts";
import { SourceError, type Excludes, type Manifest } from "../source.ts";

/** The tag of https://bford.info/cachedir/: a folder with this file is a cache. */
export const cacheTag = "CACHEDIR.TAG";
export const cacheSignature = "Signature: 8a477f597d28d172789f06886806bc55";

/** @returns null where nothing is excluded */
export const toExcludes = (of: {
  exclude: readonly string[] | null;
  exclude_caches: boolean;
}): Excludes | null => {
  const patterns = [...(of.exclude ?? [])];
  return patterns.length === 0 && !of.exclude_caches
    ? null
    : { patterns, caches: of.exclude_caches };
};

const excludesSchema = z.object({ patterns: excludePatterns, caches: z.boolean() });

/** Returns the excludes of a manifest for display; null for those of an adopted manifest that are invalid. */
export const excludedIn = (manifest: Record<string, unknown> | null): Excludes | null =>
  excludesSchema.safeParse(manifest?.["excluded"]).data ?? null;

/** Returns what a backup excluded; null = nothing. @throws SourceError where the excludes of an adopted manifest are invalid */
export function excludedBy(manifest: Manifest | null): Excludes | null {
  if (manifest?.kind !== "folder" || manifest.excluded === undefined) return null;
  const { data } = excludesSchema.safeParse(manifest.excluded);
  if (data === undefined)
    throw new SourceError(
      "The backup's manifest says in an unknown way what was left out. Restore it with the version of Quarterdeck that made it.",
    );
  return data;
}

const hex = (code: number): string => `\\x${code.toString(16).padStart(2, "0")}`;

function regexPart(part: PatternPart): string {
  switch (part.kind) {
    case "text":
      return Array.from(part.text)
        .map((one) => hex(one.charCodeAt(0)))
        .join("");
    case "any":
      return "[^/]";
    case "star":
      return "[^/]*";
    case "folders":
      return "(?:[^]*/)?";
    case "below":
      return "[^]+";
    case "set":
      return `[${part.set.isNegated ? "^/" : ""}${[...part.set.codes].map(hex).join("")}]`;
  }
}

/** @returns a test whether an entry is excluded by itself, without its parent folders. Names are below the root, one character per byte */
export function createFilter(
  patterns: readonly string[],
): (name: string, isFolder: boolean) => boolean {
  const bytes = patterns.map((line) => Buffer.from(line).toString("latin1"));
  const rules = parsePatterns(bytes).map((rule) => ({
    ...rule,
    regex: new RegExp(`^${rule.parts.map(regexPart).join("")}$`),
  }));
  return (name, isFolder) => {
    const last = name.slice(name.lastIndexOf("/") + 1);
    const rule = rules.findLast(
      ({ isFolderOnly, isAnchored, regex }) =>
        (isFolder || !isFolderOnly) && regex.test(isAnchored ? name : last),
    );
    return rule !== undefined && !rule.isNegated;
  };
}

/** Returns a bracket expression for a shell pattern or a POSIX regular expression, which have no escapes there. */
function bracketOf({ isNegated, codes }: Extract<PatternPart, { kind: "set" }>["set"]): string {
  const characters = [...codes]
    .filter((code) => code !== 0)
    .map((code) => String.fromCharCode(code));
  const has = (one: string) => (characters.includes(one) ? one : "");
  const others = characters.filter((one) => !"]^[-!".includes(one)).join("");
  const ordered = `${has("]")}${others}${has("[")}${has("!")}${has("^")}${has("-")}`;
  if (isNegated) return `[^${has("]")}/${ordered.slice(has("]").length)}]`;
  // Neither may be first, where it would negate.
  if (ordered === "^" || ordered === "!" || ordered === "!^") return `[${ordered}`;
  return /^[!^]/.test(ordered) ? `[-${ordered.slice(0, -1)}]` : `[${ordered}]`;
}

const globEscaped = (text: string): string => text.replace(/[*?[\]\\]/g, "\\$&");
const regexEscaped = (text: string): string => text.replace(/[.[*+?(){}|^$\\]/g, "\\$&");

function posixPart(part: PatternPart): string {
  switch (part.kind) {
    case "text":
      return regexEscaped(part.text);
    case "any":
      return "[^/]";
    case "star":
      return "[^/]*";
    case "folders":
      return "(([^/]|/)*/)?";
    case "below":
      return "([^/]|/)+";
    case "set":
      return bracketOf(part.set);
  }
}

function globPart(part: PatternPart): string {
  switch (part.kind) {
    case "text":
      return globEscaped(part.text);
    case "any":
      return "?";
    case "set":
      return bracketOf(part.set);
    default:
      return "*";
  }
}

/** @param root real path */
function conditionOf(root: string, { isFolderOnly, isAnchored, parts }: ExcludeRule): string[] {
  const type = isFolderOnly ? ["-type", "d"] : [];
  if (!isAnchored) return [...type, "-name", parts.map(globPart).join("")];
  if (parts.every(({ kind }) => kind === "text"))
    return [...type, "-path", `${globEscaped(root)}/${parts.map(globPart).join("")}`];
  return [...type, "-regex", `${regexEscaped(root)}/${parts.map(posixPart).join("")}`];
}

/** @param folders absolute paths @returns a condition of find that matches only these folders; empty for no folders */
export const oneOf = (folders: readonly string[]): string[] =>
  folders.flatMap((path, index) => [...(index === 0 ? [] : ["-o"]), "-path", globEscaped(path)]);

/** Sockets and devices have no content, and a site's account could not create devices. */
const withoutContent = ["-type", "s", "-o", "-type", "b", "-o", "-type", "c"];
/** An action without output: without any action, find would print what matches. */
const writesNothing = ["-printf", ""];
const named = ["-printf", "./%P\\0"];

/**
 * Returns arguments of GNU find that print the names of a folder's entries, each ended by a NUL.
 * @param root real path
 * @param caches folders below it that are caches
 * @param wanted the entries that are backed up, or the topmost of those that are excluded
 * @param printed action of find for each entry, in place of printing its name
 * @param left action for the topmost excluded entries where `wanted` is `kept`
 */
export function findArguments(
  root: string,
  excludes: Excludes | null,
  caches: readonly string[],
  wanted: "kept" | "excluded",
  printed: readonly string[] = named,
  left: readonly string[] = [],
): ["find", ...string[]] {
  const keep = wanted === "kept" ? ["(", ...withoutContent, "-o", ...printed, ")"] : writesNothing;
  const leave = wanted === "kept" ? ["-prune", ...left] : [...printed, "-prune"];
  const rules = parsePatterns(excludes?.patterns ?? []).toReversed();
  const orElse = (condition: string[], action: string[]) => [
    "(",
    ...condition,
    ...action,
    ")",
    "-o",
  ];
  return [
    "find",
    root,
    "-regextype",
    "posix-extended",
    ...orElse(["-path", globEscaped(root)], keep),
    ...caches.flatMap((folder) => {
      const path = globEscaped(`${root}/${folder}`);
      return orElse(["-path", `${path}/*`, "!", "-path", `${path}/${cacheTag}`], leave);
    }),
    ...rules.flatMap((rule) => orElse(conditionOf(root, rule), rule.isNegated ? keep : leave)),
    ...keep,
  ];
}
