// Changes one entry in the text of the inventory with a YAML document model. The text around the entry stays byte for byte as it
// is, wherever the result still parses to the same content.
import { isDeepStrictEqual } from "node:util";
import {
  Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  parseDocument,
  type YAMLMap,
  YAMLSeq,
} from "yaml";
import type { InventoryKind } from "../../contract/inventory/entries.ts";
import { endOfLine, isNode, isRanged, output, spliced, trimmedRange } from "./splice-text.ts";

export type Edit =
  | { kind: InventoryKind; action: "add"; entry: object }
  /** `keys` are the known fields of the kind; other fields of the entry stay. */
  | {
      kind: InventoryKind;
      action: "replace";
      index: number;
      entry: object;
      keys: ReadonlySet<string>;
    }
  | { kind: InventoryKind; action: "remove"; index: number };

/** The text cannot be changed; the message is for the operator. */
export class EditError extends Error {
  override name = "EditError";
}

/**
 * Writes lists of numbers or names without inner spaces: `[1, 2]`. Damage to other text is detected when the result is parsed.
 */
const tidyLists = (text: string) => text.replace(/\[ ([^[\]{}"'#]*) \]/g, "[$1]");

const asItIs = (text: string) => text;

/** @throws EditError */
export function editText(text: string, edit: Edit): string {
  // Unchanged, for the positions of its nodes.
  const original = parseDocument(text);
  if (original.errors.length > 0)
    throw new EditError("The file is no valid YAML. Correct it by hand first.");
  const expected = changedContent(original.toJS(), edit);
  const comments = commentsOutside(text, original, edit);
  try {
    const changed = parseDocument(text);
    change(changed, edit);
    // Tried one after the other, because each takes time in proportion to the size of the file.
    for (const write of [
      () => spliced(text, { original, changed }, edit, tidyLists),
      () => spliced(text, { original, changed }, edit, asItIs),
      () => changed.toString(output),
    ]) {
      const candidate = write();
      if (candidate !== null && reads(candidate, expected, comments)) return candidate;
    }
  } catch (error) {
    // For example, an alias whose anchor was removed with the entry.
    throw new EditError(unchangeable, { cause: error });
  }
  throw new EditError(unchangeable);
}

const unchangeable =
  "The entry is written in a way that Quarterdeck cannot change, with anchors for example. Change it by hand.";

/** Returns the content that the new text must have, computed without its formatting. */
function changedContent(content: unknown, edit: Edit): unknown {
  const all = isNested(content) ? { ...Object(content) } : {};
  const list: unknown[] = Array.isArray(all[edit.kind]) ? [...all[edit.kind]] : [];
  if (edit.action === "add") list.push(edit.entry);
  else if (edit.action === "remove") list.splice(edit.index, 1);
  else {
    const before = Object.entries(Object(list[edit.index]));
    const kept = before.filter(([name]) => !edit.keys.has(name));
    list[edit.index] = { ...Object.fromEntries(kept), ...edit.entry };
  }
  // Removes undefined fields.
  return JSON.parse(JSON.stringify({ ...all, [edit.kind]: list }));
}

/** Returns the entry as lines for the file, below the name of its kind. */
export function linesOf(kind: InventoryKind, entry: object): string {
  const document = new Document({ [kind]: [entry] });
  const node = document.getIn([kind, 0]);
  if (isMap(node)) node.flow = isShort(entry);
  return tidyLists(document.toString(output));
}

/** Whether the entry fits well on one line. */
const isShort = (entry: object): boolean =>
  JSON.stringify(entry).length <= 120 && Object.values(entry).every((one) => !isNested(one));
const isNested = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function change(document: Document, edit: Edit): void {
  const { kind } = edit;
  const list: unknown = document.get(kind);
  if (edit.action === "add") {
    if (document.contents === null) document.contents = document.createNode({});
    const node = document.createNode(edit.entry);
    const last: unknown = isSeq(list) ? list.items.at(-1) : undefined;
    if (isMap(node)) node.flow = isMap(last) ? last.flow === true : isShort(edit.entry);
    if (isSeq(list) && list.items.length > 0) list.add(node);
    else {
      const made = new YAMLSeq();
      made.add(node);
      document.set(kind, made);
    }
    return;
  }
  if (edit.action === "remove") {
    document.deleteIn([kind, edit.index]);
    if (isSeq(list) && list.items.length === 0) list.flow = true;
    return;
  }
  const found: unknown = isSeq(list) ? list.items[edit.index] : undefined;
  if (isMap(found)) merge(document, found, edit.entry, edit.keys);
  else document.setIn([kind, edit.index], document.createNode(edit.entry));
}

/**
 * Sets fields that differ, and leaves all others as they are written.
 * @param keys fields that may be removed; null = all
 */
function merge(
  document: Document,
  map: YAMLMap,
  values: object,
  keys: ReadonlySet<string> | null,
): void {
  const wanted = new Map<string, unknown>(
    Object.entries(values).filter(([, value]) => value !== undefined),
  );
  for (const key of map.items.map((pair) => pair.key)) {
    const name = isScalar(key) ? String(key.value) : String(key);
    if (!wanted.has(name) && (keys === null || keys.has(name))) map.delete(key);
  }
  for (const [name, value] of wanted) {
    const node: unknown = map.get(name, true);
    const now: unknown = isNode(node) ? node.toJS(document) : undefined;
    if (map.has(name) && isDeepStrictEqual(now, value)) continue;
    if (isMap(node) && isNested(value) && value !== null)
      merge(document, node, Object(value), null);
    // Keeps comments and quotes of the value.
    else if (isScalar(node) && typeof value !== "object" && node.tag === undefined)
      node.value = value;
    else {
      const made = document.createNode(value);
      if (isCollection(made) && map.flow === true) made.flow = true;
      map.set(name, made);
    }
  }
}

/** Whether a text has the expected content and all of the comments. */
function reads(text: string, expected: unknown, comments: readonly string[]): boolean {
  const document = parseDocument(text);
  if (document.errors.length > 0 || !isDeepStrictEqual(document.toJS(), expected)) return false;
  const left = commentsOf(text);
  return comments.every((comment) => {
    const place = left.indexOf(comment);
    if (place !== -1) left.splice(place, 1);
    return place !== -1;
  });
}

/**
 * Returns the comments that must stay. Those inside a replaced entry may be removed with a part of it, and removing an entry may
 * take the comments before it along.
 */
function commentsOutside(text: string, document: Document, edit: Edit): string[] {
  if (edit.action === "remove") return [];
  const node = edit.action === "replace" ? document.getIn([edit.kind, edit.index], true) : null;
  if (!isRanged(node)) return commentsOf(text);
  const [start, end] = trimmedRange(text, node);
  return [text.slice(0, start), text.slice(endOfLine(text, end))].flatMap(commentsOf);
}

/** Returns all comments of a text, in order. */
function commentsOf(text: string): string[] {
  const found: string[] = [];
  let before = "";
  for (const lexeme of new Lexer().lex(text)) {
    // The lexer emits this control character before a scalar, whose text may start with `#`.
    if (lexeme.startsWith("#") && before !== "\u001f") found.push(lexeme.trim());
    before = lexeme;
  }
  return found;
}
