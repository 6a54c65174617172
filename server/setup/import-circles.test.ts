// Finds import cycles of every kind: `import/no-cycle` of the linter detects those of values and of types, but misses
// `import("…")`.
import { expect, test } from "vitest";
import { importsOf, readImports, type Imports } from "./testing-imports.ts";

/** Returns groups of modules that reach each other (Tarjan's strongly connected components), each in alphabetical order. */
function findCircles(imports: Imports): string[][] {
  const circles: string[][] = [];
  const order = new Map<string, number>();
  const open: string[] = [];
  const visit = (module: string): number => {
    const own = order.size;
    order.set(module, own);
    let low = own;
    open.push(module);
    for (const imported of imports.get(module) ?? [])
      if (!order.has(imported)) low = Math.min(low, visit(imported));
      else if (open.includes(imported)) low = Math.min(low, order.get(imported) ?? own);
    if (low === own) {
      const group = open.splice(open.indexOf(module));
      if (group.length > 1 || imports.get(module)?.includes(module)) circles.push(group.toSorted());
    }
    return low;
  };
  for (const module of imports.keys()) if (!order.has(module)) visit(module);
  return circles;
}

test("finds a cycle of values, of types, of a re-export and of a dynamic import", () => {
  const back = 'import { a } from "./a.ts";';
  const ways = [
    'import { b } from "./b.ts";',
    'import type { B } from "./b.ts";',
    'export * from "./b.ts";',
    '// … \u{1f600}\nexport const load = () => import("./b.ts");',
  ];
  for (const way of ways) {
    const imports = new Map([
      ["a.ts", importsOf("a.ts", way)],
      ["b.ts", importsOf("b.ts", back)],
    ]);
    expect(findCircles(imports)).toEqual([["a.ts", "b.ts"]]);
  }
});

test("the modules have no import cycle", () => {
  expect(findCircles(readImports())).toEqual([]);
});
