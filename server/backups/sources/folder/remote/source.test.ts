// Tests what is specific to folders on other machines; the shared tests are beside the local source.
import { mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { zstdCompressSync } from "node:zlib";
import { beforeEach, expect, test } from "vitest";
import type { Host } from "../../../../hosts/host.ts";
import { createCollector } from "../../../testing/collector.ts";
import { createRemoteServer } from "../../../../ssh/testing/remote-server.ts";
import type { Attempt } from "../../source.ts";
import { makeFolder, makeSite, never, wordOf } from "../testing/fixtures.ts";
import { createRemoteFolderSource } from "./source.ts";

const remote = createRemoteServer();
/** PATH of the server; null = its default. */
let path: string | null = null;
beforeEach(() => {
  path = null;
});

const killed =
  "was killed, probably because the machine ran out of memory. Free some memory there, then try again.";

/** Lets a program of the server be killed as soon as it works. */
async function killAtWork(folder: string, program: string): Promise<void> {
  const programs = join(folder, "bin");
  await mkdir(programs);
  const script = `#!/bin/sh\ncase $1 in --version) exec /usr/bin/${program} "$@" ;; esac\nkill -KILL $$\n`;
  await writeFile(join(programs, program), script, { mode: 0o755 });
  path = `${programs}:/usr/bin:/bin`;
}

const attempt: Attempt = { id: 7, say: () => undefined, signal: never };

async function makeSource() {
  const folder = await makeFolder();
  const root = join(folder, "site");
  const host = await remote.host();
  const commands: string[] = [];
  const counting: Host = {
    ...host,
    run(command) {
      commands.push(command.argv.join(" "));
      if (path === null) return host.run(command);
      return host.run({ ...command, environment: { ...command.environment, PATH: path } });
    },
  };
  const source = createRemoteFolderSource({ host: counting, name: "shop", root });
  return { folder, root, source, commands };
}

test("a run sends two commands to the server: one for the state, one for the archive", async () => {
  const { root, source, commands } = await makeSource();
  await makeSite(root, "new");
  await source.rehearse(never);
  expect(await source.warnings?.(never)).toEqual([]);
  const compressed = await source.compressed?.(never);
  const { into } = createCollector();
  await compressed?.dump(into, attempt);
  expect(commands).toHaveLength(2);
});

test("a run does not rely on what an earlier one found", async () => {
  const { root, folder, source } = await makeSource();
  await makeSite(root, "new");
  await source.rehearse(never);
  await source.dump(createCollector().into, attempt);
  await rename(root, join(folder, "elsewhere"));
  await expect(source.dump(createCollector().into, attempt)).rejects.toThrow(/is not there/);
});

test("a folder that disappears after the rehearsal leads to no finished backup", async () => {
  const { root, source } = await makeSource();
  await makeSite(root, "new");
  await source.rehearse(never);
  await rm(root, { recursive: true });
  const { into } = createCollector();
  await expect(source.dump(into, attempt)).rejects.toThrow(/site.* could be read/);
  expect(into.destroyed).toBe(true);
});

test("settles a restore that was interrupted between its two steps before it reports a missing folder", async () => {
  const { root, folder, source } = await makeSource();
  await makeSite(join(folder, ".site.quarterdeck-ready-5"), "new");
  await makeSite(join(folder, ".site.quarterdeck-old-5"), "old");
  expect(await source.rehearse(never)).toMatch(
    /A restore of backup 5 that was cut off is settled: .* is restored\.$/,
  );
  expect(await readdir(folder)).toEqual(["site"]);
  expect(await wordOf(root)).toBe("new");
});

test("without sqlite3 on the server, archives databases as they are, and names them", async () => {
  const { root, folder, source } = await makeSource();
  await makeSite(root, "new");
  for (const name of ["a.db", "b", "c d.sqlite3", "e.db"])
    await writeFile(join(root, name), Buffer.alloc(1024, "SQLite format 3\0", "latin1"));
  await writeFile(join(root, "other.db"), Buffer.alloc(1024, "something else"));
  const programs = join(folder, "bin");
  await mkdir(programs);
  for (const name of [
    "sh",
    "readlink",
    "head",
    "find",
    "tar",
    "awk",
    "tr",
    "xargs",
    "grep",
    "sed",
    "cat",
    "stat",
    "zstd",
  ])
    await symlink(`/usr/bin/${name}`, join(programs, name));
  path = programs;
  expect(await source.warnings?.(never)).toEqual([
    expect.stringMatching(/^The server has no sqlite3, .* and more\. Install it/),
  ]);
  const [warning] = (await source.warnings?.(never)) ?? [];
  expect(warning).not.toContain("other.db");
  const { into, content } = createCollector();
  const manifest = await source.dump(into, attempt);
  expect(manifest).not.toHaveProperty("databases");
  expect(content().length).toBeGreaterThan(0);
});

test.each(["tar", "zstd"])("says so where %s is killed during a dump", async (program) => {
  const { root, folder, source } = await makeSource();
  await makeSite(root, "new");
  await source.rehearse(never);
  await killAtWork(folder, program);
  const compressed = await source.compressed?.(never);
  await expect(compressed?.dump(createCollector().into, attempt)).rejects.toThrow(
    `The archive of ${root} isn't whole: ${program} ${killed}`,
  );
});

test.each(["tar", "zstd"])("says so where %s is killed during a restore", async (program) => {
  const { root, folder, source } = await makeSource();
  await makeSite(root, "new");
  const { into, content } = createCollector();
  await source.dump(into, attempt);
  const packed = await source.unpacking?.(never);
  await killAtWork(folder, program);
  const from = Readable.from([zstdCompressSync(content())]);
  await expect(packed?.restore(from, attempt)).rejects.toThrow(`${program} ${killed}`);
  expect(await wordOf(root)).toBe("new");
});
