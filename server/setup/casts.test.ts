// The compiler does not check a cast, so each one needs a comment that says why it holds, on its lines or right above them.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "vite";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Returns the casts without a comment, as "path:line". `as const` is not a cast. */
function findUnexplained(path: string, code: string): string[] {
  // Skips files without casts, because parsing takes the most time.
  if (!/\bas\b(?! const\b)/.test(code)) return [];
  const { program, comments } = parseSync(path, code);
  const lineOf = (offset: number) => code.slice(0, offset).split("\n").length;
  const explained = new Set(comments.flatMap(({ start, end }) => [lineOf(start), lineOf(end)]));
  const found: string[] = [];
  new Visitor({
    TSAsExpression({ expression, typeAnnotation, end }) {
      if (code.slice(typeAnnotation.start, typeAnnotation.end) === "const") return;
      const line = lineOf(end);
      const lines = [lineOf(expression.start), lineOf(expression.end), line];
      if (!lines.some((one) => explained.has(one) || explained.has(one - 1)))
        found.push(`${path}:${line}`);
    },
  }).visit(program);
  return found;
}

test("finds a cast without a comment, and accepts explained ones and `as const`", () => {
  const code = `
    const a = b as string;
    // It is one.
    const c = d as string;
    const e = f as string; // It is one.
    const g = ["h"] as const;
    const i = {
      j,
    } as unknown as Record<string, string>;
  `;
  expect(findUnexplained("a.ts", code)).toEqual(["a.ts:2", "a.ts:9", "a.ts:9"]);
});

test("every cast has a comment that says why it holds", () => {
  const paths = globSync(["*.ts", "{contract,src,server,e2e,bench}/**/*.{ts,tsx}"], { cwd: root });
  expect(paths.length).toBeGreaterThan(100);
  expect(
    paths.flatMap((path) => findUnexplained(path, readFileSync(join(root, path), "utf8"))),
  ).toEqual([]);
});
