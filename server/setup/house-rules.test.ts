import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

// Lints a small separate project with the real rules: every violation must be reported.
const root = fileURLToPath(new URL("../..", import.meta.url));
const forbidden = [
  ["src/workers/a.ts", "../../server/app.ts"],
  ["server/workers/a.ts", "../../src/routes.ts"],
  ["contract/a.ts", "../server/app.ts"],
  ["contract/a.ts", "../src/routes.ts"],
  ["contract/a.ts", "node:fs"],
  ["contract/workers/a.ts", "react"],
  ["src/api/a.ts", "node:fs"],
  ["src/workers/a.ts", "../backups/b.ts"],
  ["src/backups/form/a.ts", "../../webhooks/b.ts"],
  ["server/webhooks/a.ts", "../notifications/b.ts"],
  ["contract/notifications/a.ts", "../workers/b.ts"],
  ["src/ui/a.ts", "../api/b.ts"],
  ["src/ui/form/a.ts", "../../bulk/b.ts"],
  ["src/ui/a.ts", "../palette/b.ts"],
  ["src/ui/a.ts", "../shortcuts/b.ts"],
  ["src/ui/a.ts", "react-router"],
] as const;

const allowed = [
  ["src/workers/a.ts", "../../contract/workers/b.ts"],
  ["src/backups/a.ts", "../../contract/workers/b.ts"],
  ["src/workers/a.ts", "../ui/b.ts"],
  ["server/workers/a.ts", "../http/b.ts"],
  ["contract/workers/a.ts", "../values.ts"],
] as const;

let house: string;
/** Files for which the linter reported an error. */
let breaches: Set<string>;

const nameOf = (kind: string, index: number, file: string) =>
  file.replace(/a\.ts$/, `${kind}-${index}.ts`);

beforeAll(async () => {
  house = await mkdtemp(join(tmpdir(), "quarterdeck-house-"));
  await cp(join(root, "oxlint.config.ts"), join(house, "oxlint.config.ts"));
  await cp(join(root, "tsconfig.json"), join(house, "tsconfig.json"));
  await symlink(join(root, "node_modules"), join(house, "node_modules"));
  await writeFile(join(house, "package.json"), '{ "type": "module" }');
  for (const [kind, rows] of Object.entries({ forbidden, allowed }))
    for (const [index, [file, imported]] of rows.entries()) {
      const path = join(house, nameOf(kind, index, file));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, `export { thing } from "${imported}";\n`);
    }
  const oxlint = join(root, "node_modules/oxlint/bin/oxlint");
  const output = await new Promise<string>((resolve) => {
    const args = [oxlint, "--format=json", "src", "server", "contract"];
    execFile(process.execPath, args, { cwd: house }, (_error, stdout) => resolve(stdout));
  });
  const { diagnostics }: { diagnostics: { code: string; filename: string }[] } = JSON.parse(output);
  breaches = new Set(
    diagnostics
      .filter(({ code }) => code.includes("no-restricted-imports"))
      .map(({ filename }) => filename),
  );
});
afterAll(() => rm(house, { recursive: true, force: true }));

test.each(forbidden.map((row, index) => [...row, index] as const))(
  "%s may not import %s",
  (file, _imported, index) => {
    expect(breaches).toContain(nameOf("forbidden", index, file));
  },
);

test.each(allowed.map((row, index) => [...row, index] as const))(
  "%s may import %s",
  (file, _imported, index) => {
    expect(breaches).not.toContain(nameOf("allowed", index, file));
  },
);
