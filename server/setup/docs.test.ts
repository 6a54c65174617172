// Checks that the documentation names only paths that exist, so that a rename cannot leave an old one behind.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = globSync(["*.md", "docs/**/*.md"], { cwd: root });
const read = (page: string) => readFileSync(join(root, page), "utf8");

/** Returns the inline code between backticks, without code blocks. */
const inlineCode = (markdown: string): string[] =>
  [...markdown.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g)].map(
    ([, code = ""]) => code,
  );

const folders = ["bench", "contract", "docs", "e2e", "public", "server", "src"];
const rootFile = /^[\w-]+(?:\.\w+)*\.(?:md|json|ts|html)$/;

/** Returns the repository paths among them; `<name>` in a path matches any name. */
const repositoryPaths = (code: readonly string[]): string[] =>
  code.filter(
    (text) =>
      new RegExp(`^(?:${folders.join("|")})/[\\w./<>-]*$`).test(text) || rootFile.test(text),
  );

const isThere = (path: string): boolean =>
  globSync(path.replaceAll(/<\w+>/g, "*").replace(/\/$/, ""), { cwd: root }).length > 0;

test("distinguishes paths that exist from others", () => {
  const markdown =
    "`server/app.ts`, `server/<room>/routes.ts`, `src/`, `package.json`, `server/gone.ts`, `src/<room>/gone.ts`, `gone.json`, `SIGTERM`, `/srv/shop`";
  const paths = repositoryPaths(inlineCode(markdown));
  expect(paths).toHaveLength(7);
  expect(paths.filter((path) => !isThere(path))).toEqual([
    "server/gone.ts",
    "src/<room>/gone.ts",
    "gone.json",
  ]);
});

describe.each(pages)("%s", (page) => {
  const markdown = read(page);

  test("names only paths that exist", () => {
    const missing = repositoryPaths(inlineCode(markdown)).filter((path) => !isThere(path));
    expect(missing).toEqual([]);
  });

  test("links only to files that exist", () => {
    const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const files = targets
      .filter((target) => !/^(?:https?:|#)/.test(target))
      .map((target) => join(page, "..", target.replace(/#.*$/, "")));
    expect(files.filter((file) => !isThere(file))).toEqual([]);
  });
});

const walks = [
  ...read("docs/architecture.md").matchAll(/^### (.+) \((\d+) files\)\n([^]*?)(?=^##|(?![^]))/gm),
].map(([, title = "", count, text = ""]) => ({ title, count: Number(count), text }));

test("finds the ways through the code", () => {
  expect(walks).toHaveLength(5);
});

test.each(walks)("“$title” counts its files correctly", ({ text, count }) => {
  expect(new Set(repositoryPaths(inlineCode(text))).size).toBe(count);
});
