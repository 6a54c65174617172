// The parts of a help page.

export type Inline =
  | string
  | { kind: "code"; text: string }
  | { kind: "strong" | "emphasis"; content: readonly Inline[] }
  | { kind: "link"; to: string; content: readonly Inline[] };

export type Block =
  | { kind: "heading"; level: number; id: string; content: readonly Inline[] }
  | { kind: "paragraph"; content: readonly Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "list"; isOrdered: boolean; items: readonly (readonly Block[])[] }
  | { kind: "table"; head: readonly Cell[]; rows: readonly (readonly Cell[])[] };

export type Cell = readonly Inline[];

/** A page of the documentation: its title, and what follows that. */
export type HelpPageContent = { title: string; blocks: readonly Block[] };

/** Returns the text of a content without formatting. */
export const plainText = (content: readonly Inline[]): string =>
  content
    .map((part) =>
      typeof part === "string" ? part : part.kind === "code" ? part.text : plainText(part.content),
    )
    .join("");
