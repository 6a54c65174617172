// Tests restores of parts of a site by an account with few permissions; `restore-file.test.ts` tests the rest.
import {
  chmod,
  chown,
  link,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import { createFolderPart } from "./part.ts";
import { environment, isRoot, makeFolder, run, sourceIn } from "./testing/fixtures.ts";

test("restores the content of folders that are closed to their owner as an ordinary account", async () => {
  const folder = await makeFolder();
  await chmod(folder, 0o755);
  const own = createLocalHost(environment);
  const nobody = { uid: 65_534, gid: 65_534, name: "", home: "/" };
  const host = isRoot ? own.as(nobody) : own;
  const { root, source, attempt, dump } = sourceIn(folder, host);
  const at = (name: string) => join(root, name);
  await mkdir(at("app/closed/deep"), { recursive: true });
  await mkdir(at("beside"));
  await writeFile(at("app/closed/page"), "from the backup");
  await writeFile(at("app/closed/deep/page"), "from the backup");
  await link(at("app/closed/page"), at("beside/page"));
  for (const name of ["app/closed/deep", "app/closed"]) await chmod(at(name), 0o555);
  if (isRoot) await run("chown", ["-R", "65534:65534", folder]);
  const { archive, manifest } = await dump();
  const open = async () => Readable.from([archive]);
  const restore = async (path: string) => {
    const part = createFolderPart(source, { host, root, path });
    await part.restore(await open(), { ...attempt(), reopen: open }, manifest);
    expect(await readdir(root)).toEqual(["app", "beside"]);
    expect((await readdir(dirname(at(path)))).filter((name) => name.startsWith("."))).toEqual([]);
  };
  const modeOf = async (name: string) => (await stat(at(name))).mode & 0o777;

  for (const path of ["app/closed", "app"]) {
    // Restores over an existing file, and where it is missing.
    await restore(path);
    await run("chmod", ["-R", "u+w", at(path)]);
    await rm(at(path), { recursive: true });
    await restore(path);
    expect([await modeOf("app/closed"), await modeOf("app/closed/deep")]).toEqual([0o555, 0o555]);
    expect(await readFile(at("app/closed/page"), "utf8")).toBe("from the backup");
  }
  await chmod(at("app/closed"), 0o755);
  await rm(at("app/closed/page"));
  if (isRoot) await chown(at("app/closed"), nobody.uid, nobody.gid);
  await restore("app/closed/page");
  await restore("app/closed/deep");
  expect(await readFile(at("app/closed/page"), "utf8")).toBe("from the backup");
  expect(await modeOf("app/closed/deep")).toBe(0o555);
});
