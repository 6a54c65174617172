// Creates a unified diff (`diff -u`) of two versions of the inventory's text, with possible secrets masked.
import { secretFields } from "../../contract/inventory/fields.ts";

/** Number of unchanged lines around a change. */
const context = 3;
/** Limit of compared pairs of lines; a larger part is shown as removed and added completely. */
const maxPairs = 4_000_000;

/** Versions kept, because more users rarely have a form open. Older versions have no diff. */
const maxTexts = 8;
const maxCharacters = 8_000_000;

type Line = { sign: " " | "-" | "+"; text: string };

/** Keeps the versions of the text that were shown recently. */
export function createTextHistory() {
  const texts = new Map<string, string>();
  return {
    keep(version: string, text: string): void {
      texts.delete(version);
      texts.set(version, text);
      const size = () => [...texts.values()].reduce((sum, { length }) => sum + length, 0);
      for (const oldest of texts.keys()) {
        if (texts.size <= maxTexts && size() <= maxCharacters) break;
        texts.delete(oldest);
      }
    },
    find: (version: string): string | null => texts.get(version) ?? null,
  };
}

/** @returns "" where they are the same */
export function diffText(before: string, after: string, name: string): string {
  const lines = compare(toLines(mask(before)), toLines(mask(after)));
  const changed = lines.flatMap(({ sign }, place) => (sign === " " ? [] : [place]));
  if (changed.length === 0) return "";
  const shown = [`--- ${name}`, `+++ ${name}`];
  for (let at = 0; at < changed.length;) {
    const from = Math.max(0, (changed[at] ?? 0) - context);
    let to = (changed[at] ?? 0) + context + 1;
    while (at < changed.length && (changed[at] ?? 0) <= to + context) {
      to = (changed[at] ?? 0) + context + 1;
      at += 1;
    }
    shown.push(headOf(lines, from, to));
    shown.push(...lines.slice(from, to).map(({ sign, text }) => sign + text));
  }
  return `${shown.join("\n")}\n`;
}

function headOf(lines: readonly Line[], from: number, to: number): string {
  const count = (sign: "-" | "+", start: number, end: number) =>
    lines.slice(start, end).filter((line) => line.sign === " " || line.sign === sign).length;
  const range = (sign: "-" | "+") => {
    const many = count(sign, from, to);
    return `${count(sign, 0, from) + (many === 0 ? 0 : 1)},${many}`;
  };
  return `@@ -${range("-")} +${range("+")} @@`;
}

const toLines = (text: string): string[] =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n");

function compare(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (
    tail < Math.min(before.length, after.length) - head &&
    before.at(-1 - tail) === after.at(-1 - tail)
  )
    tail += 1;
  const same = (text: string): Line => ({ sign: " ", text });
  return [
    ...before.slice(0, head).map(same),
    ...compareMiddle(
      before.slice(head, before.length - tail),
      after.slice(head, after.length - tail),
    ),
    ...before.slice(before.length - tail).map(same),
  ];
}

/** Compares by the longest common subsequence of lines. */
function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  const removed = before.map((text): Line => ({ sign: "-", text }));
  const added = after.map((text): Line => ({ sign: "+", text }));
  if (before.length * after.length > maxPairs) return [...removed, ...added];
  const width = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => longest[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      longest[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length && column < after.length)
    if (before[row] === after[column]) {
      lines.push({ sign: " ", text: before[row] ?? "" });
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) lines.push(...removed.slice(row, ++row));
    else lines.push(...added.slice(column, ++column));
  return [...lines, ...removed.slice(row), ...added.slice(column)];
}

const secretKeys = [...secretFields, "password", "token", "secret"]
  // Of SSH it is a path.
  .filter((field) => field !== "config")
  .join("|");
/** Matches values of secret fields that are literals instead of references. */
const written = new RegExp(
  `(["']?\\b(?:${secretKeys})["']?\\s*:\\s*)(?!["']?(?:env:|file:|agent\\b))("(?:[^"\\\\]|\\\\.)*"|'(?:[^']|'')*'|[^\\s,}#][^\\n,}]*)`,
  "g",
);
const login = /(:\/\/)[^\s/@"']+@/g;
const hook = /(https:\/\/(?:hooks\.slack\.com|discord(?:app)?\.com)\/)[^\s"',}]+/g;

const fieldOfLine = new RegExp(`^(\\s*(?:- +)*)(["']?(?:${secretKeys})["']?\\s*:)(?:\\s+(.*))?$`);
const isReference = (value: string) =>
  /^["']?(?:env:|file:|agent["']?\s*(?:#.*)?$)/.test(value.trim());
const depthOf = (line: string) => line.length - line.trimStart().length;

/** Masks the value of a field that starts on a line of its own, including its further lines. */
function maskLines(text: string): string {
  /** Column of the field whose value is being masked; -1 = none. */
  let within = -1;
  return text
    .split("\n")
    .map((line) => {
      if (line.trim() === "") return line;
      if (within !== -1 && depthOf(line) > within)
        return isReference(line) ? line : `${line.slice(0, depthOf(line))}…`;
      const [, indent = "", key = "", value = ""] = fieldOfLine.exec(line) ?? [];
      within = key === "" || isReference(value) ? -1 : indent.length;
      return within === -1 || value === "" ? line : `${indent}${key} …`;
    })
    .join("\n");
}

/** Masks literal secrets. They do not belong in the file, but must not be shown if they are there. */
export const mask = (text: string): string =>
  maskLines(text).replace(written, "$1…").replace(login, "$1…@").replace(hook, "$1…");
