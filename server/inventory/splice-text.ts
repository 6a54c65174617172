// Puts the new text of an entry into the text of the inventory, or cuts the entry out, at the positions of the YAML nodes.
import { Document, isSeq, type Node, type YAMLSeq } from "yaml";
import type { InventoryKind } from "../../contract/inventory/entries.ts";

/** Which entry of a list. */
type Place =
  | { kind: InventoryKind; action: "add" }
  | { kind: InventoryKind; action: "replace" | "remove"; index: number };

/** Long lines are not folded. */
export const output = { lineWidth: 0, flowCollectionPadding: true } as const;

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "toJS" in value;

/** Renders an entry of the changed list, with `column` spaces before all lines but the first. */
type Render = (index: number, column: number) => string | null;

/** @returns null where the text around the entry cannot stay as it is */
export function spliced(
  text: string,
  { original, changed }: { original: Document; changed: Document },
  edit: Place,
  tidy: (text: string) => string,
): string | null {
  const write: Render = (index, column) => {
    const lines = render(changed.getIn([edit.kind, index], true), column);
    return lines === null ? null : tidy(lines);
  };
  const list: unknown = original.get(edit.kind);
  if (!isSeq(list)) return edit.action === "add" ? appended(text, write, edit.kind) : null;
  if (edit.action === "add") return added(text, list, write);
  const node = list.items[edit.index];
  if (!isRanged(node)) return null;
  const [start, end] = trimmedRange(text, node);
  if (edit.action === "replace") {
    const rendered = write(edit.index, columnOf(text, start));
    return rendered === null ? null : text.slice(0, start) + rendered + text.slice(end);
  }
  if (list.flow === true) return null;
  const dash = text.lastIndexOf("-", start);
  if (list.items.length === 1) {
    const indent = columnOf(text, dash) === 0 ? "  " : "";
    return `${text.slice(0, dash)}${indent}[]${text.slice(endOfLine(text, end))}`;
  }
  const from = text.lastIndexOf("\n", dash) + 1;
  return text.slice(0, from) + text.slice(endOfLine(text, end) + 1);
}

/** Inserts the entry after the last one of its kind. */
function added(text: string, list: YAMLSeq, write: Render): string | null {
  const last = list.items.at(-1);
  if (last === undefined) {
    if (!isRanged(list)) return null;
    const [start, end] = list.range;
    const isAlone = text.slice(text.lastIndexOf("\n", start - 1) + 1, start).trim() === "";
    const rendered = write(0, isAlone ? columnOf(text, start) + 2 : 4);
    if (rendered === null) return null;
    const head = isAlone ? text.slice(0, start) : `${text.slice(0, start).trimEnd()}\n  `;
    return `${head}- ${rendered}${text.slice(end)}`;
  }
  if (list.flow === true || !isRanged(last)) return null;
  const [start, end] = trimmedRange(text, last);
  const column = columnOf(text, text.lastIndexOf("-", start));
  const rendered = write(list.items.length, column + 2);
  if (rendered === null) return null;
  const place = endOfLine(text, end);
  return `${text.slice(0, place)}\n${" ".repeat(column)}- ${rendered}${text.slice(place) || "\n"}`;
}

/** Appends a kind that is missing from the file. */
function appended(text: string, write: Render, kind: InventoryKind): string | null {
  const rendered = write(0, 4);
  if (rendered === null) return null;
  const heading = new RegExp(`^${kind}[ \\t]*:[ \\t]*(?:#.*)?$`, "m").exec(text);
  if (heading !== null) {
    const place = heading.index + heading[0].length;
    return `${text.slice(0, place)}\n  - ${rendered}${text.slice(place) || "\n"}`;
  }
  if (new RegExp(`^${kind}\\s*:`, "m").test(text)) return null;
  const head = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${head}${head.trim() === "" ? "" : "\n"}${kind}:\n  - ${rendered}\n`;
}

function render(node: unknown, column: number): string | null {
  if (!isNode(node)) return null;
  // A copy without the comments and spaces around the node, which stay in the file's own text.
  const copy = Object.assign(node.clone() as Node, {
    spaceBefore: false,
    comment: null,
    commentBefore: null,
  });
  const lines = new Document(copy).toString(output).replace(/\n$/, "").split("\n");
  return lines
    .map((line, place) => (place === 0 || line === "" ? line : " ".repeat(column) + line))
    .join("\n");
}

type Ranged = Node & { range: [number, number, number] };
export const isRanged = (node: unknown): node is Ranged => isNode(node) && node.range != null;

/** Returns the range of the node without trailing whitespace and comments. */
export function trimmedRange(text: string, node: Ranged): [number, number] {
  const [start, end] = node.range;
  const written = text.slice(start, end);
  return [start, start + written.trimEnd().length];
}

const columnOf = (text: string, place: number) => place - (text.lastIndexOf("\n", place - 1) + 1);

export function endOfLine(text: string, place: number): number {
  const found = text.indexOf("\n", place);
  return found === -1 ? text.length : found;
}
