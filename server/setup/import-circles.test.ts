// No circle of imports, whatever the imports are: `import/no-cycle` of the linter sees those of values and of types,
// and misses `import("…")`.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The relative specifiers that a module imports: values, types, re-exports and dynamic imports. */
function specifiersOf(path: string, code: string): string[] {
  const { module } = parseSync(path, code);
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest),
    ...module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest)),
  ];
  return [
    ...requests.map((request) => request?.value ?? ""),
    // What stands in the brackets as it is written, quotes included.
    ...module.dynamicImports.map(({ moduleRequest }) =>
      code.slice(moduleRequest.start + 1, moduleRequest.end - 1),
    ),
  ].filter((specifier) => specifier.startsWith("."));
}

type Imports = ReadonlyMap<string, readonly string[]>;

/** Groups of modules that reach each other (Tarjan's strongly connected components), each in alphabetical order. */
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

function readImports(): Imports {
  const modules = ["contract", "src", "server", "e2e", "bench"].flatMap((wing) =>
    globSync(`${wing}/**/*.{ts,tsx}`, { cwd: root }),
  );
  return new Map(
    modules.map((module) => [
      module,
      specifiersOf(module, readFileSync(join(root, module), "utf8")).map((specifier) =>
        resolve("/", dirname(module), specifier).slice(1),
      ),
    ]),
  );
}

test("finds a circle of values, of types, of a re-export and of a dynamic import", () => {
  const back = 'import { a } from "./a.ts";';
  const ways = [
    'import { b } from "./b.ts";',
    'import type { B } from "./b.ts";',
    'export * from "./b.ts";',
    '// … \u{1f600}\nexport const load = () => import("./b.ts");',
  ];
  for (const way of ways) {
    const imports = new Map([
      ["./a.ts", specifiersOf("a.ts", way)],
      ["./b.ts", specifiersOf("b.ts", back)],
    ]);
    expect(findCircles(imports)).toEqual([["./a.ts", "./b.ts"]]);
  }
});

test("the modules import each other in one direction", () => {
  expect(findCircles(readImports())).toEqual([]);
});
