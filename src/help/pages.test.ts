import { describe, expect, test } from "vitest";
import { type Block, type Inline, plainText } from "./blocks.ts";
import { helpIndex } from "./help-index.ts";
import { loadHelp, readTarget } from "./pages.ts";

const names = Object.keys(import.meta.glob(["../../docs/**/*.md", "!../../docs/look.md"])).map(
  (file) => file.replace(/^.*\/|\.md$/g, ""),
);
const listed = helpIndex.flatMap(({ pages }) => Object.entries(pages));

const load = async (name: string) => {
  const page = await loadHelp(name);
  if (page === null) throw new Error(`There is no ${name}.`);
  return page;
};

const contentsOf = (block: Block): Inline[] => {
  switch (block.kind) {
    case "code":
      return [];
    case "list":
      return block.items.flat().flatMap(contentsOf);
    case "table":
      return [block.head, ...block.rows].flat(2);
    case "heading":
    case "paragraph":
      return [...block.content];
  }
};

const linksOf = (content: readonly Inline[]): string[] =>
  content.flatMap((part) => {
    if (typeof part === "string" || part.kind === "code") return [];
    return part.kind === "link" ? [part.to] : linksOf(part.content);
  });

test("no page has an image, which the help could not show", async () => {
  for (const name of names) {
    const links = linksOf((await load(name)).blocks.flatMap(contentsOf));
    expect(links.filter((to) => /\.(?:webp|png|svg)$/.test(to))).toEqual([]);
  }
});

test("the index lists every page with its title", async () => {
  expect(listed.map(([name]) => name).sort()).toEqual(names.sort());
  for (const [name, title] of listed) expect((await load(name)).title).toBe(title);
});

describe.each(names)("%s", (name) => {
  test("shows no Markdown syntax as text", async () => {
    const { blocks } = await load(name);
    const texts = blocks.flatMap(contentsOf).filter((part) => typeof part === "string");
    expect(texts.filter((text) => /\*\*|`|\]\(|^#|^\||^- /.test(text))).toEqual([]);
  });

  test("links only to existing sections", async () => {
    for (const to of linksOf((await load(name)).blocks.flatMap(contentsOf))) {
      const target = readTarget(to, name);
      if (target.kind !== "page") continue;
      const { blocks } = await load(target.name);
      const anchors = blocks.flatMap((block) => (block.kind === "heading" ? block.id : []));
      expect(["", ...anchors], to).toContain(target.anchor);
    }
  });
});

test.each([
  ["security.md#tokens", { kind: "page", name: "security", anchor: "tokens" }],
  ["../embedded-database.md", { kind: "page", name: "embedded-database", anchor: "" }],
  ["decisions/0001-job-engine.md", { kind: "page", name: "0001-job-engine", anchor: "" }],
  ["#statuses", { kind: "page", name: "backups", anchor: "statuses" }],
  ["https://example.com/a.md", { kind: "web", url: "https://example.com/a.md" }],
  ["../SECURITY.md", { kind: "file" }],
  ["quarterdeck.service", { kind: "file" }],
  ["look.md", { kind: "file" }],
  ["javascript:alert(1)", { kind: "file" }],
])("resolves %s", (to, target) => {
  expect(readTarget(to, "backups")).toEqual(target);
});

test.each(["nothing", "constructor", "../backups", ""])("has no page “%s”", async (name) => {
  expect(await loadHelp(name)).toBeNull();
});

test("returns only the text of a content", () => {
  expect(plainText(["a ", { kind: "strong", content: [{ kind: "code", text: "b" }] }])).toBe("a b");
});
