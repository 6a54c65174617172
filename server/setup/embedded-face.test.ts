// `server/store/embedded` is a separate product with one public file. Its private files can change freely only as long as
// nothing outside imports them.
import { expect, test } from "vitest";
import { importsOf, readImports, type Imports } from "./testing-imports.ts";

const folder = "server/store/embedded/";
const publicFile = `${folder}embedded-postgres.ts`;

/** Returns imports of private files from outside the folder: "importing file → imported file". */
const findBreaches = (imports: Imports): string[] =>
  [...imports]
    .filter(([module]) => !module.startsWith(folder))
    .flatMap(([module, imported]) =>
      imported
        .filter((path) => path.startsWith(folder) && path !== publicFile)
        .map((path) => `${module} → ${path}`),
    );

test("finds an import of a private file, whether of a value, a type, a re-export or dynamic", () => {
  const ways = [
    'import { findPlace } from "./store/embedded/place.ts";',
    'import type { Place } from "./store/embedded/place.ts";',
    'export * from "./store/embedded/place.ts";',
    'const load = () => import("./store/embedded/place.ts");',
  ];
  for (const way of ways)
    expect(findBreaches(new Map([["server/a.ts", importsOf("server/a.ts", way)]]))).toEqual([
      "server/a.ts → server/store/embedded/place.ts",
    ]);
});

test("allows the public file, and private files within the folder", () => {
  const outside = importsOf("server/a.ts", 'import "./store/embedded/embedded-postgres.ts";');
  const inside = importsOf(`${folder}a.ts`, 'import "./place.ts";');
  expect(outside).toEqual([publicFile]);
  expect(inside).toEqual([`${folder}place.ts`]);
  const imports = new Map([
    ["server/a.ts", outside],
    [`${folder}a.ts`, inside],
  ]);
  expect(findBreaches(imports)).toEqual([]);
});

test("only the public file of the embedded PostgreSQL is imported from outside its folder", () => {
  const imports = readImports();
  const importers = [...imports].filter(([, imported]) => imported.includes(publicFile));
  expect(importers.map(([module]) => module)).toContain("server/main.ts");
  expect(findBreaches(imports)).toEqual([]);
});
