// Reads which modules import which, whatever the imports are: values, types, re-exports and dynamic imports.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Paths from the root of the repository: each module, and what it imports of the repository. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** The relative specifiers that a module imports. */
export function specifiersOf(path: string, code: string): string[] {
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

export function readImports(): Imports {
  const modules = ["contract", "src", "server", "e2e", "bench"].flatMap((wing) =>
    globSync(`${wing}/**/*.{ts,tsx}`, { cwd: root }),
  );
  return new Map(
    modules.map((module) => [module, importsOf(module, readFileSync(join(root, module), "utf8"))]),
  );
}

export const importsOf = (module: string, code: string): string[] =>
  specifiersOf(module, code).map((specifier) => resolve("/", dirname(module), specifier).slice(1));
