// Reads the repository's documentation at build time. What a page shows is made of these parts as elements, so there is
// no HTML that anything could hide in, and no parser in the browser. It knows what `oxfmt` leaves of Markdown, and
// refuses the rest, so that a page with more is found by the tests and not by a reader.

import { type Block, type Cell, type HelpPageContent, type Inline, plainText } from "./blocks.ts";

const inlinePattern =
  /`([^`]+)`|\*\*(.+?)\*\*|(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])|(?<!\w)_([^_\s](?:[^_]*[^_\s])?)_(?!\w)|\[((?:[^\][]|\[[^\]]*\])+)\]\(([^)\s]+)\)|\\([!-/:-@[-`{-~])/g;

export function parseInline(text: string): Inline[] {
  const parts: Inline[] = [];
  const add = (part: Inline) => {
    const last = parts.at(-1);
    if (typeof part !== "string" || typeof last !== "string") parts.push(part);
    else parts[parts.length - 1] = last + part;
  };
  let done = 0;
  for (const match of text.matchAll(inlinePattern)) {
    const [all, code, strong, starred, underlined, label, to, escaped] = match;
    if (match.index > done) add(text.slice(done, match.index));
    done = match.index + all.length;
    const emphasis = starred ?? underlined;
    if (code !== undefined) add({ kind: "code", text: code });
    else if (strong !== undefined) add({ kind: "strong", content: parseInline(strong) });
    else if (emphasis !== undefined) add({ kind: "emphasis", content: parseInline(emphasis) });
    else if (label !== undefined && to !== undefined)
      add({ kind: "link", to, content: parseInline(label) });
    else add(escaped ?? "");
  }
  if (done < text.length) add(text.slice(done));
  return parts;
}

/** As GitHub names the anchor of a heading, so that links work there and here. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\d\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

const cellsOf = (line: string): Cell[] =>
  line
    .replace(/^\s*\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => parseInline(cell.trim().replaceAll("\\|", "|")));

const itemPattern = /^([-*]|\d+\.)( +)/;
const unknown = /^(?:>|<[a-z!/]|!\[|\[\^|\s*(?:\*\s*){3,}$|-{3,}$|={3,}$|#{5,})/i;

/** Reads the blocks of some lines, which begin at the margin. */
function parseBlocks(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  const line = () => lines[at] ?? "";
  /** The lines from here on as long as they are of the block at hand. */
  const take = (isOfIt: (text: string) => boolean): string[] => {
    const taken: string[] = [];
    while (at < lines.length && isOfIt(line())) {
      taken.push(line());
      at += 1;
    }
    return taken;
  };

  function readCode(fence: string, language: string): Block {
    at += 1;
    const text = take((one) => one.trim() !== fence).join("\n");
    at += 1;
    return { kind: "code", language, text };
  }

  function readList(isOrdered: boolean): Block {
    const items: Block[][] = [];
    for (;;) {
      const [all = "", mark = ""] = itemPattern.exec(line()) ?? [];
      if (all === "" || /\d/.test(mark) !== isOrdered) return { kind: "list", isOrdered, items };
      const indent = " ".repeat(all.length);
      const first = line().slice(all.length);
      at += 1;
      const isLoose = () => line() === "" && (lines[at + 1] ?? "").startsWith(indent);
      const rest = take((one) => one.startsWith(indent) || isLoose());
      items.push(parseBlocks([first, ...rest.map((one) => one.slice(indent.length))]));
      if (line() === "" && itemPattern.test(lines[at + 1] ?? "")) at += 1;
    }
  }

  while (at < lines.length) {
    const text = line();
    const [, fence, language = ""] = /^(`{3,})(\S*)/.exec(text) ?? [];
    const [, marks, title = ""] = /^(#{1,4}) (.+)$/.exec(text) ?? [];
    const [, mark] = itemPattern.exec(text) ?? [];
    if (text.trim() === "" || /^<!--.*-->$/.test(text)) at += 1;
    else if (fence !== undefined) blocks.push(readCode(fence, language));
    else if (marks !== undefined) {
      const content = parseInline(title);
      const id = anchorOf(plainText(content));
      blocks.push({ kind: "heading", level: marks.length, id, content });
      at += 1;
    } else if (mark !== undefined) blocks.push(readList(/\d/.test(mark)));
    else if (text.startsWith("|")) {
      const [head = "", , ...rows] = take((one) => one.startsWith("|"));
      blocks.push({ kind: "table", head: cellsOf(head), rows: rows.map(cellsOf) });
    } else if (unknown.test(text)) throw new Error(`Help can't show this Markdown: ${text}`);
    else {
      const words = take((one) => one.trim() !== "" && !/^(?:#|```|\||[-*] |\d+\. )/.test(one));
      blocks.push({ kind: "paragraph", content: parseInline(words.join(" ")) });
    }
  }
  return blocks;
}

/** @throws for Markdown that it does not know */
export function parseMarkdown(text: string): HelpPageContent {
  const [first, ...blocks] = parseBlocks(text.split(/\r?\n/));
  if (first?.kind !== "heading" || first.level !== 1)
    throw new Error("A page of the documentation begins with its title.");
  const anchors = new Map<string, number>();
  const distinct = blocks.map((block) => {
    if (block.kind !== "heading") return block;
    const before = anchors.get(block.id) ?? 0;
    anchors.set(block.id, before + 1);
    return before === 0 ? block : { ...block, id: `${block.id}-${before}` };
  });
  return { title: plainText(first.content), blocks: distinct };
}
