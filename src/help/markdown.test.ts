import { describe, expect, test } from "vitest";
import { type Block, type Inline, plainText } from "./blocks.ts";
import { parseInline, parseMarkdown } from "./markdown.ts";

describe("inline content", () => {
  test.each<[string, Inline[]]>([
    ["plain", ["plain"]],
    ["a `b*c*` d", ["a ", { kind: "code", text: "b*c*" }, " d"]],
    ["**a `b`**", [{ kind: "strong", content: ["a ", { kind: "code", text: "b" }] }]],
    [
      "*a* and _b_",
      [{ kind: "emphasis", content: ["a"] }, " and ", { kind: "emphasis", content: ["b"] }],
    ],
    [
      "[a `b`](c.md#d)",
      [{ kind: "link", to: "c.md#d", content: ["a ", { kind: "code", text: "b" }] }],
    ],
    ["2 * 3 * 4, snake_case_name", ["2 * 3 * 4, snake_case_name"]],
    [String.raw`\*not\*`, ["*not*"]],
    ["<script>alert(1)</script>", ["<script>alert(1)</script>"]],
    ["at https://example.com/a_b_c or ~/a~", ["at https://example.com/a_b_c or ~/a~"]],
  ])("%s", (text, expected) => {
    expect(parseInline(text)).toEqual(expected);
  });
});

const blocks = (text: string) => parseMarkdown(`# Title\n\n${text}`).blocks;
const paragraph = (text: string): Block => ({ kind: "paragraph", content: [text] });

test("ends a paragraph at an empty line, and joins its lines", () => {
  expect(blocks("one\ntwo\n\nthree")).toEqual([paragraph("one two"), paragraph("three")]);
});

test("gives a heading the anchor that GitHub uses", () => {
  expect(blocks("### Every request (19 files)\n\n## `a-b` & c")).toMatchObject([
    { kind: "heading", level: 3, id: "every-request-19-files" },
    { kind: "heading", level: 2, id: "a-b--c" },
  ]);
});

test("gives two headings with the same text different anchors", () => {
  expect(blocks("## Same\n\n## Same")).toMatchObject([{ id: "same" }, { id: "same-1" }]);
});

test("omits a comment", () => {
  expect(blocks("<!-- for writers -->\n\ntext")).toEqual([paragraph("text")]);
});

test("keeps the text of a code block unchanged", () => {
  expect(blocks("```sh\n# no heading\n\n  - no list\n```\nafter")).toEqual([
    { kind: "code", language: "sh", text: "# no heading\n\n  - no list" },
    paragraph("after"),
  ]);
});

test("parses lists with several blocks in an item, and nested lists", () => {
  expect(blocks("- one\n  more\n  - inner\n- two\n\n  apart\n\n1. first\n2. second")).toEqual([
    {
      kind: "list",
      isOrdered: false,
      items: [
        [paragraph("one more"), { kind: "list", isOrdered: false, items: [[paragraph("inner")]] }],
        [paragraph("two"), paragraph("apart")],
      ],
    },
    { kind: "list", isOrdered: true, items: [[paragraph("first")], [paragraph("second")]] },
  ]);
});

test("parses a table with a header, rows, and escaped bars in cells", () => {
  expect(blocks("| A | B |\n| - | - |\n| `a` | b \\| c |")).toEqual([
    {
      kind: "table",
      head: [["A"], ["B"]],
      rows: [[[{ kind: "code", text: "a" }], ["b | c"]]],
    },
  ]);
});

test.each([
  "> quoted",
  "<div>",
  "![a](b.png)",
  "a ![b](c.png)",
  "---",
  "##### deep",
  "- [ ] to do",
  "[a]: b.md",
  "    indented",
  "broken  \nhard",
])("refuses unsupported syntax: %s", (text) => {
  expect(() => blocks(text)).toThrow("Help can't show");
});

test("refuses a page without a title", () => {
  expect(() => parseMarkdown("text")).toThrow("begins with its title");
});

test("returns the plain text of inline content", () => {
  expect(plainText(parseInline("**a** [b `c`](d.md)"))).toBe("a b c");
});
