// Finds exports that nothing imports: an unused name, or one that only its own module uses, should not look as if others
// depend on it.
import { expect, test } from "vitest";
import { type Module, parseModule, readModules } from "./testing-imports.ts";

/** @returns `path: name` of each export that no module imports */
function findUnused(modules: ReadonlyMap<string, Module>): string[] {
  const used = new Set<string>();
  for (const { imports } of modules.values())
    for (const { path, name } of imports) used.add(`${path}: ${name}`);
  return [...modules].flatMap(([path, { exports }]) =>
    used.has(`${path}: *`)
      ? []
      : exports.map((name) => `${path}: ${name}`).filter((name) => !used.has(name)),
  );
}

test("finds a value and a type that nothing imports, with every kind of import", () => {
  const exported = "export const a = 1;\nexport type B = 2;\nexport const c = 3;\n";
  const found = (importing: string) =>
    findUnused(
      new Map([
        ["one.ts", parseModule("one.ts", exported)],
        ["other.ts", parseModule("other.ts", importing)],
      ]),
    );
  expect(found("")).toEqual(["one.ts: a", "one.ts: B", "one.ts: c"]);
  expect(found('import { a, type B } from "./one.ts";')).toEqual(["one.ts: c"]);
  expect(found('import type { B } from "./one.ts";')).toEqual(["one.ts: a", "one.ts: c"]);
  expect(found('import * as one from "./one.ts";')).toEqual([]);
  expect(found('const { a } = await import("./one.ts");')).toEqual(["one.ts: B", "one.ts: c"]);
  expect(found('export { a } from "./one.ts";')).toEqual(["one.ts: B", "one.ts: c", "other.ts: a"]);
});

test("every export is imported somewhere", () => {
  expect(findUnused(readModules())).toEqual([]);
});
