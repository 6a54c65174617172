// Reads the imports and exports of modules, of any form: values, types, re-exports and dynamic imports.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Reads all modules, by path. */
export const readModules = (): Map<string, Module> =>
  new Map(
    globSync("{*.ts,{contract,src,server,e2e,bench}/**/*.{ts,tsx}}", { cwd: root }).map((path) => [
      path,
      parseModule(path, readFileSync(join(root, path), "utf8")),
    ]),
  );

export type Module = {
  /**
   * Names imported from other modules of the repository: values, types, re-exports, dynamic imports. `*` = any of its exports;
   * null = none, the module is imported for its side effects.
   */
  imports: { path: string; name: string | null }[];
  /** Exported names, except `default`. */
  exports: string[];
};

/** @param path relative to the root of the repository */
export function parseModule(path: string, code: string): Module {
  const { module } = parseSync(path, code);
  const imports: { specifier: string; name: string | null }[] = [];
  for (const { moduleRequest, entries } of module.staticImports) {
    imports.push({ specifier: moduleRequest.value, name: null });
    for (const { importName } of entries)
      imports.push({
        specifier: moduleRequest.value,
        name: importName.kind === "NamespaceObject" ? "*" : importName.name,
      });
  }
  const exported = module.staticExports.flatMap(({ entries }) => entries);
  for (const { moduleRequest, importName } of exported)
    if (moduleRequest !== null)
      imports.push({
        specifier: moduleRequest.value,
        name: importName.kind === "Name" ? importName.name : "*",
      });
  for (const { moduleRequest } of module.dynamicImports) {
    // The argument as it is written, including its quotes.
    const specifier = code.slice(moduleRequest.start + 1, moduleRequest.end - 1);
    // A name can be taken from the promise in many ways, so each word of the importing module may be one.
    for (const name of new Set(code.match(/\w+/g))) imports.push({ specifier, name });
  }
  return {
    imports: imports.flatMap(({ specifier, name }) =>
      specifier.startsWith(".")
        ? [{ path: resolve("/", dirname(path), specifier).slice(1), name }]
        : [],
    ),
    exports: exported.flatMap(({ exportName: { kind, name } }) =>
      kind === "Name" && name !== null ? [name] : [],
    ),
  };
}

/** Each module with the modules that it imports, as paths relative to the root of the repository. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const pathsOf = ({ imports }: Module): string[] => [...new Set(imports.map(({ path }) => path))];

/** Returns the modules of the repository that a module imports. */
export const importsOf = (path: string, code: string): string[] => pathsOf(parseModule(path, code));

export const readImports = (): Imports =>
  new Map([...readModules()].map(([path, module]) => [path, pathsOf(module)]));
