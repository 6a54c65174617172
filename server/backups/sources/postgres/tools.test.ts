import { chmod, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import { hasPostgresServer } from "../../testing/postgres-server.ts";
import { environment, makeSource, never } from "./testing/fixtures.ts";
import { findTools } from "./tools.ts";

const names = ["pg_dump", "pg_restore", "psql"];

/** @returns the newest version found if PATH begins with a folder that has a program of this name, and links to it */
async function newestWith(program: string): Promise<number | undefined> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-tools-")));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, program), "#!/bin/sh\necho 'psql (PostgreSQL) 99.1'\n");
  await chmod(join(folder, program), 0o755);
  for (const name of names) await symlink(program, join(folder, name));
  const host = createLocalHost({ ...environment, PATH: `${folder}:${environment.PATH}` });
  return (await findTools(host, never)).tools[0].major;
}

test("finds programs by PATH", async () => {
  expect(await newestWith("of-its-own")).toBe(99);
});

test.skipIf(!hasPostgresServer)(
  "does not run Debian's wrapper script, whose programs were found already",
  async () => {
    expect(await newestWith("pg_wrapper")).toBeLessThan(99);
  },
);

test.skipIf(!hasPostgresServer)(
  "a dump is compressed at the source only if zstd exists there, and if that is useful",
  async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-tools-")));
    onTestFinished(() => rm(folder, { recursive: true }));
    await symlink("/bin/sh", join(folder, "sh"));
    const compressedWith = (PATH: string, use?: { isUnpacked: boolean }) =>
      makeSource("postgres://nobody@127.0.0.1/shop", {
        host: createLocalHost({ ...environment, PATH }),
      }).source.compressed?.(never, use);
    expect(await compressedWith(environment.PATH)).toMatchObject({ content: "other" });
    expect(await compressedWith(folder)).toBeNull();
    // Of this machine it would be unpacked at once, and compressed once more.
    expect(await compressedWith(environment.PATH, { isUnpacked: true })).toBeNull();
  },
);
