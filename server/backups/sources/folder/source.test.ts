import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import {
  chmod,
  chown,
  lchown,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import {
  run,
  isRoot,
  environment,
  never,
  makeFolder,
  sourceIn,
  createMachines,
  makeSite,
} from "./testing/fixtures.ts";
import { pathBelow, walkFolder } from "./walk.ts";
import type { Manifest } from "../source.ts";
import { inShortFormIf } from "../../../testing/long-form.ts";

type Fingerprint = Record<string, string>;

/** Returns everything that a backup must preserve, by name. */
async function fingerprint(root: string): Promise<Fingerprint> {
  const found: [string, Buffer, Stats][] = [];
  const lots = walkFolder(root, (_, error) => {
    throw error;
  });
  for await (const lot of lots)
    for (const { name } of lot)
      found.push([name.toString("latin1"), name, await lstat(pathBelow(root, name))]);
  const firstNames = new Map<number, string>();
  const result: Fingerprint = {};
  for (const [shown, name, entry] of found.sort(([one], [other]) => (one < other ? -1 : 1))) {
    const path = pathBelow(root, name);
    if (entry.nlink > 1 && !entry.isDirectory() && !firstNames.has(entry.ino))
      firstNames.set(entry.ino, shown);
    const content = entry.isFile()
      ? createHash("sha256")
          .update(await readFile(path))
          .digest("hex")
      : entry.isSymbolicLink()
        ? (await readlink(path, { encoding: "buffer" })).toString("latin1")
        : "";
    const size = entry.isFile() ? entry.size : 0;
    const owner = isRoot ? `${entry.uid}:${entry.gid}` : "";
    result[shown] =
      `${entry.mode.toString(8)} ${size} ${entry.mtimeMs} ${owner} ${firstNames.get(entry.ino) ?? ""} ${content}`;
  }
  return result;
}

const deepFolder = Array.from({ length: 14 }, (_, level) => `${level}`.padEnd(240, "d")).join("/");

async function makeHardSite(root: string): Promise<void> {
  await mkdir(root);
  const at = (name: string) => join(root, name);
  const odd = [
    "-rf",
    "--help",
    "a\nb",
    "tab\there",
    `"quoted" 'twice'`,
    "ünï ☃",
    " ",
    "\\101",
    "@x",
  ];
  for (const name of odd) await writeFile(at(name), `content of ${name}`);
  await writeFile(pathBelow(root, Buffer.from([0x62, 0xff, 0xfe, 0x0a])), "not UTF-8");
  await mkdir(pathBelow(root, Buffer.from([0xe9])));
  await writeFile(
    pathBelow(root, Buffer.from([0xe9, 0x2f, 0xe8])),
    "below a name that is not UTF-8",
  );
  await symlink(Buffer.from([0xff, 0x2f, 0xfd]), at("link to no UTF-8"));
  await writeFile(at("n".repeat(255)), "long");
  await mkdir(at(deepFolder), { recursive: true });
  await writeFile(at(`${deepFolder}/file`), "deep");
  await mkdir(at("empty folder"));
  await writeFile(at("empty file"), "");
  await writeFile(at("one name"), "two names");
  await link(at("one name"), at("other name"));
  await symlink("nowhere", at("dangling"));
  await symlink("/etc", at("outside"));
  await symlink("empty folder", at("inside"));
  await run("mkfifo", [at("fifo")]);
  await writeFile(at("setuid"), "s");
  await mkdir(at("sticky"));
  await mkdir(at("group"));
  await mkdir(at("private"), { mode: 0o700 });
  if (isRoot) await chown(at("setuid"), 12345, 54321);
  if (isRoot) await lchown(at("dangling"), 12345, 0);
  await chmod(at("setuid"), 0o4755);
  await chmod(at("sticky"), 0o1777);
  await chmod(at("group"), 0o2770);
  const sparse = await open(at("sparse"), "w");
  await sparse.truncate(64 * 1024 * 1024);
  await sparse.write("middle", 32 * 1024 * 1024);
  await sparse.close();
  await writeFile(at("old"), "old");
  await utimes(at("old"), 86_400, 86_400.25);
  await mkdir(at("no writing"));
  await writeFile(at("no writing/file"), "x");
  await chmod(at("no writing"), 0o555);
  await chmod(root, 0o751);
}

const machines = createMachines();

describe.each(machines)("on $machine", ({ machine, makeSource }) => {
  test("restores everything that a folder can contain unchanged, and a drill agrees", async () => {
    const { root, folder, source, attempt, dump, said, scratchFolder } = await makeSource();
    await makeHardSite(root);
    // A new folder in a set-group-ID folder inherits that bit.
    await chmod(folder, 0o2755);
    const before = await fingerprint(root);
    const { manifest, archive } = await dump();
    expect(said).toEqual([]);
    expect(manifest.entries).toBe(Object.keys(before).length);

    expect(await source.drill(Readable.from([archive]), manifest, attempt())).toMatch(
      /^\d+ entries with \d+ bytes restored, as backed up\.$/,
    );
    expect(await readdir(scratchFolder).catch(() => [])).toEqual([]);

    await writeFile(join(root, "new since"), "to be gone");
    await rm(join(root, "old"));
    await source.restore(Readable.from([archive]), attempt());
    expect(await fingerprint(root)).toEqual(before);
    expect((await stat(join(root, "sparse"))).blocks).toBeLessThan(1000);
    expect((await readdir(folder)).filter((name) => name !== "scratch")).toEqual(["site"]);
    expect(said).toEqual([]);
  });

  test("drills and restores a folder closed to its owner by the rules of an ordinary account", async () => {
    const folder = await makeFolder();
    const host = createLocalHost(environment);
    const nobody = { uid: 65_534, gid: 65_534, name: "", home: "/" };
    const { root, source, attempt, dump } = sourceIn(folder, isRoot ? host.as(nobody) : host);
    await makeSite(root, "new");
    await mkdir(join(root, "closed"));
    await chmod(join(root, "closed"), 0o500);
    if (isRoot) await run("chown", ["-R", "65534:65534", folder]);
    const { manifest, archive } = await dump();
    await source.drill(Readable.from([archive]), manifest, attempt());
    await source.restore(Readable.from([archive]), attempt());
    expect((await stat(join(root, "closed"))).mode & 0o777).toBe(0o500);
  });

  test("the rehearsal reports that the folder can be read, with which tar, and what would prevent a restore", async () => {
    const { root, source } = await makeSource();
    await expect(source.rehearse(never)).rejects.toThrow(/shop.* is not there\. Correct its path/);
    await writeFile(root, "");
    await expect(source.rehearse(never)).rejects.toThrow(/is not a folder/);
    await rm(root);
    await mkdir(root);
    expect(await source.rehearse(never)).toMatch(/can be read; GNU tar \d+\.\d+[^ ]*\.$/);
  });

  test("a folder exists for a restore if it is not empty", async () => {
    const { root, source } = await makeSource();
    expect(await source.exists()).toBe(false);
    await mkdir(root);
    expect(await source.exists()).toBe(false);
    await writeFile(join(root, "page"), "");
    expect(await source.exists()).toBe(true);
  });

  inShortFormIf(machine === "this machine", () => {
    test("a drill fails if the archive does not match the manifest", async () => {
      const { root, source, attempt, dump } = await makeSource();
      await makeSite(root, "old");
      const { manifest, archive } = await dump();
      await truncate(join(root, "page-1"), 10);
      const other = await dump();
      const drill = (content: Buffer, held: Manifest) =>
        source.drill(Readable.from([content]), held, attempt());
      await expect(drill(other.archive, manifest)).rejects.toThrow(
        "The backup has 4 entries with 12000 bytes, the archive 4 with 8010.",
      );
      await rename(join(root, "page-1"), join(root, "page-9"));
      await expect(drill((await dump()).archive, other.manifest)).rejects.toThrow(
        /names, types, modes or sizes/,
      );
      await expect(drill(archive, { ...manifest, bytes: 2 ** 52 })).rejects.toThrow(
        /The drill needs \d+ MB in/,
      );
    });
  });
});
