// Parses the repository's documentation at build time. Pages are rendered as elements, without HTML that could contain
// scripts, and without a parser in the browser. Unsupported Markdown throws, so that tests find it.
import { lexer, Lexer, type MarkedToken, type Token } from "marked";
import { type Block, type Cell, type HelpPageContent, type Inline, plainText } from "./blocks.ts";

// No extension adds other types of tokens.
const known = (tokens: readonly Token[]) => tokens as readonly MarkedToken[];

const refuse = ({ raw }: Pick<Token, "raw">): never => {
  throw new Error(`Help can't show this Markdown: ${raw.trim()}`);
};

function toInline(token: MarkedToken): Inline {
  switch (token.type) {
    case "codespan":
      return { kind: "code", text: token.text };
    case "strong":
      return { kind: "strong", content: toContent(token.tokens) };
    case "em":
      return { kind: "emphasis", content: toContent(token.tokens) };
    case "link":
      // A bare URL stays text, which readers can copy.
      if (!token.raw.startsWith("[")) return token.raw;
      return { kind: "link", to: token.href, content: toContent(token.tokens) };
    case "text":
    case "escape":
      return token.text.replaceAll("\n", " ");
    case "html":
    case "del":
      return token.raw;
    default:
      return refuse(token);
  }
}

/** Joins adjacent texts. */
function toContent(tokens: readonly Token[]): Inline[] {
  const parts: Inline[] = [];
  for (const part of known(tokens).map(toInline)) {
    const last = parts.at(-1);
    if (typeof last === "string" && typeof part === "string") parts.splice(-1, 1, last + part);
    else parts.push(part);
  }
  return parts;
}

export const parseInline = (text: string): Inline[] => toContent(Lexer.lexInline(text));

/** Returns the anchor of a heading as GitHub generates it, so that links work in both places. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\d\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

const toCell = ({ tokens }: { tokens: Token[] }): Cell => toContent(tokens);

function toBlocks(token: MarkedToken): Block[] {
  switch (token.type) {
    case "space":
      return [];
    case "html":
      return /^<!--[^]*?-->\s*$/.test(token.raw) ? [] : refuse(token);
    case "code":
      if (token.codeBlockStyle === "indented") return refuse(token);
      return [{ kind: "code", language: token.lang ?? "", text: token.text }];
    case "heading": {
      const content = toContent(token.tokens);
      if (token.depth > 4) return refuse(token);
      return [{ kind: "heading", level: token.depth, id: anchorOf(plainText(content)), content }];
    }
    case "list": {
      if (token.items.some(({ task }) => task)) return refuse(token);
      const items = token.items.map(({ tokens }) => known(tokens).flatMap(toBlocks));
      return [{ kind: "list", isOrdered: token.ordered, items }];
    }
    case "table":
      return [
        {
          kind: "table",
          head: token.header.map(toCell),
          rows: token.rows.map((row) => row.map(toCell)),
        },
      ];
    case "paragraph":
    case "text":
      return [{ kind: "paragraph", content: toContent(token.tokens ?? []) }];
    default:
      return refuse(token);
  }
}

/** @throws Error for unsupported Markdown */
export function parseMarkdown(text: string): HelpPageContent {
  const [first, ...blocks] = known(lexer(text)).flatMap(toBlocks);
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
