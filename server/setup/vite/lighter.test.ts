import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { lighten } from "./lighter.ts";

const router = dirname(createRequire(import.meta.url).resolve("react-router"));
const react = dirname(createRequire(import.meta.url).resolve("react-dom/package.json"));
const lucide = dirname(createRequire(import.meta.url).resolve("lucide-react/package.json"));
const contract = fileURLToPath(new URL("../../../contract", import.meta.url));

// The real files, so that a new version of a package that looks different is noticed.
test.each([
  [join(router, "lib/dom/lib.js"), /displayName = "Link"|= React\$1\.forwardRef/],
  [join(router, "lib/context.js"), /displayName|= React\$1\.createContext/],
  [join(react, "cjs/react-dom-client.production.js"), /Exception = Error\(/],
  [join(lucide, "dist/esm/icons/server.mjs"), /key:/],
  [join(contract, "operations.ts"), /summary:|body:|tag:/],
  [join(contract, "backups/backup.ts"), /globalRegistry/],
])("%s is lighter", async (path, heavy) => {
  const code = await readFile(path, "utf8");
  expect(code).toMatch(heavy);
  expect(lighten(path, code)).not.toMatch(heavy);
});

test("what a browser needs of an operation stays", async () => {
  const path = join(contract, "operations.ts");
  const code = lighten(path, await readFile(path, "utf8"));
  expect(code.match(/method:/g)?.length).toBe(code.match(/ operation\(\{/g)?.length);
  expect(code.match(/answers:/g)?.length).toBe(code.match(/ operation\(\{/g)?.length);
});
