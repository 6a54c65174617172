// Tests the documented command for a restore without the service.
import { spawnSync } from "node:child_process";
import { chmod, chown, link, mkdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { createLocalHost } from "../../../hosts/local.ts";
import { environment, isLinux, isRoot, makeFolder, run, sourceIn } from "./testing/fixtures.ts";

const manual = join(import.meta.dirname, "../../../../docs/backups.md");

const everyAttribute = ["--xattrs", "--xattrs-include=*", "--acls"];

/** Creates what a restore must bring back beside the content. Sets attributes by tar, which every machine here has. */
async function makeSite(root: string, folder: string): Promise<void> {
  const at = (name: string) => join(root, name);
  await mkdir(at("public/uploads"), { recursive: true });
  await writeFile(at("public/index.php"), "<?php");
  await link(at("public/index.php"), at("public/other.php"));
  await symlink("public/index.php", at("start"));
  await writeFile(at("artisan"), "run");
  await chown(at("artisan"), 12345, 54321);
  await chmod(at("artisan"), 0o4755);
  await writeFile(join(folder, "tagged"), "x");
  const headers = [
    "SCHILY.xattr.user.origin:=upload",
    // Only root can set this attribute, in many containers not even root; tar warns and continues.
    "SCHILY.xattr.trusted.mark:=ours",
    "SCHILY.acl.access:=user::rw-\nuser:12345:rw-\ngroup::r--\nmask::rw-\nother::r--",
  ];
  const tagged = join(folder, "tagged.tar");
  const attributes = `--pax-option=${headers.join(",")}`;
  await run("tar", ["-cf", tagged, "--format=posix", attributes, "-C", folder, "tagged"]);
  await run("tar", ["-xf", tagged, ...everyAttribute, "-C", at("public/uploads")]);
  await mkdir(at("cache"));
  await writeFile(at("cache/page"), "cached");
  await chmod(at("cache"), 0o555);
  for (const name of ["cache", "public/uploads", "public", "artisan", "."])
    await utimes(at(name), 1_000_000, 1_000_000.25);
}

/** Returns all that tar reports of a folder as one text, sorted by name, so that two folders can be compared. */
async function everythingIn(root: string): Promise<string> {
  const times = "--pax-option=delete=atime,delete=ctime";
  const { stdout } = await run(
    "tar",
    [
      "-cf",
      "-",
      "--format=posix",
      times,
      ...everyAttribute,
      "--sort=name",
      "--numeric-owner",
      "-C",
      root,
      ".",
    ],
    { encoding: "latin1", maxBuffer: 2 ** 24 },
  );
  return stdout;
}

const hasZstd = spawnSync("zstd", ["--version"]).error === undefined;

test.skipIf(!isLinux || !isRoot || !hasZstd)(
  "the documented command restores a site's folder as the service does",
  async () => {
    const folder = await makeFolder();
    const { root, source, attempt, dump } = sourceIn(folder, createLocalHost(environment));
    await mkdir(root);
    await makeSite(root, folder);
    const before = await everythingIn(root);
    expect(before).toContain("user.origin=upload");
    expect(before).toContain("user:12345:rw-");
    const { archive } = await dump();

    const text = await readFile(manual, "utf8");
    const command = /^zstd -dc ([^\s.]+\.tar\.zst) .*$/m.exec(text);
    const [line = "", file = ""] = command ?? [];
    await writeFile(join(folder, file), zstdCompressSync(archive));
    const byHand = join(folder, "by hand");
    await mkdir(byHand);
    expect(line).toContain("-C /srv/shop");
    const { stderr } = await run("sh", ["-c", line.replace("/srv/shop", '"$1"'), "sh", byHand], {
      cwd: folder,
    });
    expect(stderr).toBe("");
    expect(await everythingIn(byHand)).toBe(before);

    await source.restore(Readable.from([archive]), attempt());
    expect(await everythingIn(root)).toBe(before);
  },
);
