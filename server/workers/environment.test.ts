import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { workerEnvironment } from "./environment.ts";

const run = promisify(execFile);

const pathOf = (PATH: string | undefined) =>
  workerEnvironment({ PATH }, "/opt/quarterdeck/node_modules/node/bin", "/opt/quarterdeck/")[
    "PATH"
  ];
const last = "/opt/quarterdeck/node_modules/node/bin";

test.each([
  ["/usr/local/bin:/usr/bin:/bin", `/usr/local/bin:/usr/bin:/bin:${last}`],
  [undefined, `/usr/local/bin:/usr/bin:/bin:${last}`],
  [
    "/opt/quarterdeck/node_modules/.bin:/opt/node_modules/.bin:/node_modules/.bin:/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin:/usr/bin",
    `/usr/bin:${last}`,
  ],
  ["/opt/quarterdeck/node_modules/node/bin/:/usr/bin", `/usr/bin:${last}`],
  [
    "/opt/quarterdeck-tools/bin:/srv/node_modules/.bin",
    `/opt/quarterdeck-tools/bin:/srv/node_modules/.bin:${last}`,
  ],
  ["/opt/quarterdeck/node_modules/.bin", `/usr/local/bin:/usr/bin:/bin:${last}`],
])("workers get the machine's PATH, not what npm adds for this project: %s", (path, expected) => {
  expect(pathOf(path)).toBe(expected);
});

test("removes everything that npm adds to PATH", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-path-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "node_modules/.bin"), { recursive: true });
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ scripts: { path: `node -p process.env.PATH` } }),
  );
  const { stdout } = await run("npm", ["run", "--silent", "path"], { cwd: folder });
  const inside = stdout.trim();
  expect(inside.startsWith(join(folder, "node_modules/.bin"))).toBe(true);
  const { PATH = "" } = workerEnvironment({ PATH: inside }, "/nowhere", folder);
  expect(PATH).not.toContain(folder);
  expect(PATH).toContain("/usr/bin");
});
