// Patterns of excluded files, as in gitignore(5). Patterns that git and people would read differently are refused: `**`
// must be a whole segment of a path, and brackets hold ASCII only.
import * as z from "zod/mini";
import { storableText } from "../inputs.ts";

/** Matches one character other than a slash that is in a set or, negated, outside of it. */
type CharacterSet = { isNegated: boolean; codes: ReadonlySet<number> };

/**
 * `any` matches one character and `star` any number of them, without slashes; `folders` matches any number of whole
 * folders.
 */
export type PatternPart =
  | { kind: "text"; text: string }
  | { kind: "any" | "star" | "folders" | "below" }
  | { kind: "set"; set: CharacterSet };

export type ExcludeRule = {
  /** Includes again what an earlier rule excludes. */
  isNegated: boolean;
  isFolderOnly: boolean;
  /** Matches the path from the top; otherwise a name at any depth. */
  isAnchored: boolean;
  parts: PatternPart[];
};

/** Why a pattern is refused, for the operator. */
class PatternError extends Error {}

const namedSets: ReadonlyMap<string, RegExp> = new Map([
  ["alnum", /[0-9A-Za-z]/],
  ["alpha", /[A-Za-z]/],
  ["blank", /[ \t]/],
  ["cntrl", /\p{Cc}/u],
  ["digit", /[0-9]/],
  ["graph", /[!-~]/],
  ["lower", /[a-z]/],
  ["print", /[ -~]/],
  ["punct", /[!-/:-@[-`{-~]/],
  ["space", /[\t-\r ]/],
  ["upper", /[A-Z]/],
  ["xdigit", /[0-9A-Fa-f]/],
]);

const lastAscii = 127;
const slashCode = 47;

/** @param at index of the first character after the bracket */
function readSet(text: string, at: number): { set: CharacterSet; end: number } {
  const codes = new Set<number>();
  const isNegated = text[at] === "!" || text[at] === "^";
  let next = isNegated ? at + 1 : at;
  let before: number | null = null;
  const add = (from: number, to: number) => {
    if (to > lastAscii) throw new PatternError("characters in brackets must be ASCII");
    for (let code = from; code <= to; code += 1) if (code !== slashCode) codes.add(code);
  };
  const readCode = (): number => {
    if (text[next] === "\\") next += 1;
    const code = text.charCodeAt(next);
    if (Number.isNaN(code)) throw new PatternError("a bracket isn't closed");
    next += 1;
    return code;
  };
  for (let isFirst = true; isFirst || text[next] !== "]"; isFirst = false) {
    if (next >= text.length) throw new PatternError("a bracket isn't closed");
    const named = /^\[:(\w*):\]/.exec(text.slice(next));
    if (named !== null) {
      const known = namedSets.get(named[1] ?? "");
      if (known === undefined) throw new PatternError(`${named[0]} is no set of characters`);
      for (let code = 0; code <= lastAscii; code += 1)
        if (known.test(String.fromCharCode(code))) add(code, code);
      next += named[0].length;
      before = null;
    } else if (
      text[next] === "-" &&
      before !== null &&
      !["]", undefined].includes(text[next + 1])
    ) {
      next += 1;
      add(before, readCode());
      before = null;
    } else {
      before = readCode();
      add(before, before);
    }
  }
  if (codes.size === 0) throw new PatternError("a bracket holds no character");
  return { set: { isNegated, codes }, end: next + 1 };
}

/** @param segment without a slash */
function partsOf(segment: string): PatternPart[] {
  const parts: PatternPart[] = [];
  for (let at = 0; at < segment.length;) {
    const character = segment.charAt(at);
    at += 1;
    if (character === "*") parts.push({ kind: "star" });
    else if (character === "?") parts.push({ kind: "any" });
    else if (character === "[") {
      const { set, end } = readSet(segment, at);
      parts.push({ kind: "set", set });
      at = end;
    } else if (character === "\\") {
      if (at >= segment.length) throw new PatternError("a backslash stands at an end");
      parts.push({ kind: "text", text: segment.charAt(at) });
      at += 1;
    } else parts.push({ kind: "text", text: character });
  }
  return parts;
}

/** Removes trailing spaces that are not escaped by a backslash. */
function withoutTrailingSpaces(text: string): string {
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === " ") continue;
    end = Math.min(text.length, at + 1);
  }
  return text.slice(0, end);
}

/**
 * @returns null for an empty line or a comment
 * @throws PatternError
 */
function parse(line: string): ExcludeRule | null {
  let text = withoutTrailingSpaces(line);
  if (text === "" || text.startsWith("#")) return null;
  const isNegated = text.startsWith("!");
  if (isNegated) text = text.slice(1);
  const isFolderOnly = text.endsWith("/");
  if (isFolderOnly) text = text.slice(0, -1);
  const isAnchored = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  const segments = text.split("/");
  if (segments.includes("")) throw new PatternError("a part of its path is empty");
  if (segments.some((segment) => segment === "." || segment === ".."))
    throw new PatternError("“.” and “..” are not allowed");
  const parts = segments.flatMap((segment, index): PatternPart[] => {
    const isLast = index === segments.length - 1;
    if (segment === "**" && !isAnchored) return [{ kind: "star" }];
    if (segment === "**") return [{ kind: isLast ? "below" : "folders" }];
    if (/(?<!\\)\*\*/.test(segment))
      throw new PatternError("“**” must be a whole part of the path, as in “a/**/b”");
    return [...partsOf(segment), ...(isLast ? [] : [{ kind: "text", text: "/" } as const])];
  });
  return { isNegated, isFolderOnly, isAnchored, parts };
}

/** @throws PatternError, a plain Error, for patterns that `whyNotPattern` refuses */
export const parsePatterns = (lines: readonly string[]): ExcludeRule[] =>
  lines.flatMap((line) => parse(line) ?? []);

function whyNotPattern(line: string): string | null {
  try {
    parse(line);
    return null;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

const maxPatterns = 200;
const maxCharacters = 255;

const pattern = storableText().check(
  z.maxLength(maxCharacters),
  z.refine((line) => !/\p{Cc}/u.test(line), {
    error: "A pattern can't contain control characters.",
    abort: true,
  }),
  z.superRefine((line, context) => {
    const reason = whyNotPattern(line);
    if (reason !== null)
      context.addIssue({ code: "custom", message: `“${line}” is not a valid pattern: ${reason}.` });
  }),
);

/** Null or an empty list excludes nothing. */
export const excludePatterns = z.array(pattern).check(z.maxLength(maxPatterns));

/** Patterns that the form offers to add, for files that a deployment or the program itself recreates. */
export const excludePresets = {
  Laravel: [
    "/vendor/",
    "/node_modules/",
    "/bootstrap/cache/*.php",
    "/storage/framework/cache/data/*",
    "/storage/framework/sessions/*",
    "/storage/framework/views/*.php",
    "/storage/logs/*.log",
    "!/storage/framework/**/.gitignore",
  ],
  Node: [
    "node_modules/",
    ".npm/",
    ".cache/",
    ".next/cache/",
    ".nuxt/",
    "coverage/",
    "npm-debug.log*",
  ],
} as const;
