// Tests restores of a single file or folder of a site, with the same tests for this machine and a remote server.
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { createLocalHost } from "../../hosts/local.ts";
import { createRemoteServer, eachMachine } from "../../ssh/testing/remote-server.ts";
import { createFolderPart } from "../sources/folder/part.ts";
import type { Source } from "../sources/source.ts";
import { createBackupTestService, type BackupTestService } from "../testing/backup-service.ts";

const id = 1;
const run = promisify(execFile);

describe.each(eachMachine())("a file or folder on $machine", ({ connectionOf, isWhole }) => {
  let service: BackupTestService;
  let configuration: BackupConfiguration;
  let backup: Backup;
  const at = (...path: string[]) => join(service.folder, "shop", ...path);
  const read = (...path: string[]) => readFile(at(...path), "utf8");

  beforeAll(async () => {
    service = await createBackupTestService({}, { connection: await connectionOf() });
    await mkdir(at("public/images"), { recursive: true });
    await chmod(at("public/images"), 0o750);
    await mkdir(at("private"), { mode: 0o700 });
    await writeFile(at("public/index.php"), "from the backup", { mode: 0o640 });
    await chmod(at("public/index.php"), 0o604);
    await writeFile(at("public/images/ä logo$(x).png"), "logo");
    await writeFile(at("-dash"), "dash");
    for (const name of ["padded", " padded "]) await writeFile(at(name), `${name}|`);
    await writeFile(Buffer.from(at("caf\xe9"), "latin1"), "not UTF-8");
    await mkdir(join(service.folder, "elsewhere"));
    await writeFile(join(service.folder, "elsewhere/kept"), "kept");
    await symlink(join(service.folder, "elsewhere"), at("shared"));
    for (const name of ["links/one", "links/other", "links/more"])
      await mkdir(at(name), { recursive: true });
    await writeFile(at("links/one/-a"), "of several names");
    for (const name of ["links/one/ä b", "links/other/c", "links/more/d", "links/e"])
      await link(at("links/one/-a"), at(name));
    await chmod(at("links/more"), 0o555);
    await run("touch", ["-d", "2020-02-02T02:02:02.123456789Z", at("links/one"), at("links/more")]);
    await symlink("public/index.php", at("start"));
    configuration = await service.installed({ backupable_type: "site" });
    backup = await service.run(configuration.id);
  });
  /** One folder in it has no permissions for its owner, who has to add them before it can be removed. */
  const openLinks = () => run("chmod", ["-R", "u+w", at("links")]);
  afterAll(async () => {
    await openLinks();
    await service?.close();
  });
  /** Each test begins with other content than the backup's. */
  beforeEach(async () => {
    await rm(at("public"), { recursive: true, force: true });
    await mkdir(at("public/images"), { recursive: true });
    await writeFile(at("public/index.php"), "later");
    await writeFile(at("public/kept.txt"), "kept");
    await writeFile(at("public/images/later.png"), "later");
  });

  const ask = (path: string, more: object = {}) =>
    service.json<Backup>("POST", `/api/site/${id}/restore`, {
      backup_id: backup.id,
      path,
      ...more,
    });
  /** The first test covers safety backups. */
  const unsaved = { skip_safety_backup: true };
  const restore = async (path: string, status: string, more: object = unsaved) => {
    const answer = await ask(path, more);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    const restored = await service.restored(backup.id, status);
    expect((await readdir(at())).filter((name) => name.includes("quarterdeck"))).toEqual([]);
    expect(
      (await readdir(at("public")).catch(() => [])).filter((name) => name.includes("quarterdeck")),
    ).toEqual([]);
    return restored;
  };

  test("restores a file with its mode, and leaves everything else", async () => {
    const restored = await restore("public/index.php", "finished", {});
    expect(await read("public/index.php")).toBe("from the backup");
    expect((await lstat(at("public/index.php"))).mode & 0o777).toBe(0o604);
    expect(await read("public/kept.txt")).toBe("kept");
    expect(await readdir(at("public/images"))).toEqual(["later.png"]);
    expect(restored.restore_target).toMatchObject({ name: "shop", part: "public/index.php" });
    expect(restored.restore_output).toContain("Restoring public/index.php in shop alone.");
    // The previous data is in a safety backup of the whole site.
    const [safety] = (await service.show(configuration.id)).backups;
    expect(safety).toMatchObject({
      id: restored.restore_target?.safety_backup_id,
      trigger: "safety",
      status: "finished",
    });
  });

  test("a name with leading or trailing spaces is distinct", async () => {
    for (const name of ["padded", " padded "]) await writeFile(at(name), "later");
    await restore(" padded ", "finished");
    expect([await read(" padded "), await read("padded")]).toEqual([" padded |", "later"]);
  });

  test("follows no link on the way", async () => {
    const outside = join(service.folder, "outside");
    await rm(outside, { recursive: true, force: true });
    await mkdir(join(outside, "images"), { recursive: true });
    await writeFile(join(outside, "index.php"), "outside");
    await rename(at("public"), at("aside"));
    await symlink(outside, at("public"));
    try {
      const failed = await restore("public/index.php", "failed");
      expect(failed.restore_output).toMatch(/Nothing was changed: .*public is a symbolic link/);
      expect(await readdir(outside)).toEqual(["images", "index.php"]);
      expect(await readFile(join(outside, "index.php"), "utf8")).toBe("outside");
    } finally {
      await rm(at("public"));
      await rename(at("aside"), at("public"));
    }
  });

  if (!isWhole) return;

  test("restores a missing entry with its parent folders, and nothing beside it", async () => {
    await rm(at("public"), { recursive: true });
    await restore("public/images/ä logo$(x).png", "finished");
    expect(await readdir(at("public"))).toEqual(["images"]);
    expect((await lstat(at("public/images"))).mode & 0o777).toBe(0o750);
    expect(await read("public/images/ä logo$(x).png")).toBe("logo");
    await rm(at("-dash"));
    await restore("-dash", "finished");
    expect(await read("-dash")).toBe("dash");
    // A new folder in a set-group-ID folder inherits that bit.
    await rm(at("private"), { recursive: true });
    await chmod(at(), 0o2755);
    await restore("private", "finished");
    await chmod(at(), 0o755);
    expect((await lstat(at("private"))).mode & 0o7777).toBe(0o700);
  });

  test("restores a file with several hard links by each of them, alone and in a folder", async () => {
    // Whichever is archived first, one of the two is a hard link to a file outside of the restored part.
    for (const name of ["links/one/-a", "links/other/c"]) {
      await rm(at(name));
      await restore(name, "finished");
      expect(await read(name), name).toBe("of several names");
    }
    for (const [name, files] of [
      ["links/one", ["-a", "ä b"]],
      ["links/more", ["d"]],
    ] as const) {
      await openLinks();
      await rm(at("links"), { recursive: true });
      await restore(name, "finished");
      expect(await readdir(at("links"))).toEqual([name.slice("links/".length)]);
      expect((await readdir(at(name))).toSorted()).toEqual(files);
      for (const file of files) expect(await read(name, file)).toBe("of several names");
      expect((await lstat(at(name, files[0]))).nlink).toBe(files.length);
    }
    const { mode, mtime } = await lstat(at("links/more"));
    expect([mode & 0o777, mtime.toISOString()]).toEqual([0o555, "2020-02-02T02:02:02.123Z"]);
  });

  test("a folder replaces the existing one completely", async () => {
    await restore("public/images", "finished");
    expect(await readdir(at("public/images"))).toEqual(["ä logo$(x).png"]);
    expect((await lstat(at("public/images"))).mode & 0o777).toBe(0o750);
    expect(await read("public/index.php")).toBe("later");
  });

  test("a file replaces a folder, and a link replaces a file", async () => {
    await rm(at("public/index.php"));
    await mkdir(at("public/index.php/inside"), { recursive: true });
    await restore("public/index.php", "finished");
    expect(await read("public/index.php")).toBe("from the backup");
    await rm(at("start"));
    await writeFile(at("start"), "no link");
    await restore("start", "finished");
    expect((await lstat(at("start"))).isSymbolicLink()).toBe(true);
  });

  test("refuses a folder that may contain excluded files, but not its files or a new folder", async () => {
    const { id: excluding } = await service.installed({
      backupable_type: "site",
      exclude: ["*.log"],
    });
    await writeFile(at("public/app.log"), "today");
    const { id: backup_id } = await service.run(excluding);
    await ask("public", { backup_id, ...unsaved });
    const refused = await service.restored(backup_id, "failed");
    expect(refused.restore_output).toMatch(
      /Nothing was changed: the backup left out files by its excludes, and .*\/public may hold such files/,
    );
    expect(await read("public", "app.log")).toBe("today");
    await writeFile(at("public/index.php"), "broken");
    await ask("public/index.php", { backup_id, ...unsaved });
    await service.restored(backup_id, "finished");
    expect(await read("public", "index.php")).toBe("later");
    await rm(at("public"), { recursive: true });
    await ask("public", { backup_id, ...unsaved });
    await service.restored(backup_id, "finished");
    expect(await read("public", "kept.txt")).toBe("kept");
    await service.call("DELETE", `/api/backup-configuration/${excluding}?files=remove`);
    await service.becomesGone(`/api/backup-configuration/${excluding}`);
  });

  test("a path that is not in the backup changes nothing", async () => {
    const failed = await restore("public/kept.txt", "failed");
    expect(failed.restore_output).toContain("public/kept.txt is not in the backup.");
    expect(await read("public/kept.txt")).toBe("kept");
    const unnamed = await restore("caf\ufffd", "failed");
    expect(unnamed.restore_output).toMatch(/isn't UTF-8.*restore the folder that it is in/i);
    const other = await restore("public/kept.txt/deeper", "failed");
    expect(other.restore_output).toMatch(/kept\.txt is no folder any more/);
  });

  test("the target of a link is not in the backup, and stays unchanged", async () => {
    await rm(at("shared"));
    for (const isThere of [false, true]) {
      if (isThere) await mkdir(at("shared"));
      const failed = await restore("shared/kept", "failed");
      expect(failed.restore_output).toContain("shared/kept is not in the backup.");
      expect(await readFile(join(service.folder, "elsewhere/kept"), "utf8")).toBe("kept");
      expect((await readdir(at())).includes("shared")).toBe(isThere);
    }
  });

  test.each(["../shop/x", "/etc/passwd", "a/../b", "./a", "a//b", "a/", "", "a\nb"])(
    "refuses the path %j",
    async (path) => {
      expect(
        await service.errorsOf("POST", `/api/site/${id}/restore`, { backup_id: backup.id, path }),
      ).toHaveProperty("path");
    },
  );
});

const remote = createRemoteServer();

describe.each([
  {
    machine: "this machine",
    hostOf: async () => createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/" }),
  },
  { machine: "a remote server", hostOf: remote.host },
])("interrupted on $machine", ({ hostOf }) => {
  const attempt = { id: 7, say: () => undefined, signal: new AbortController().signal };
  const scratch = ".quarterdeck-restore-7";
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "quarterdeck-part-"));
    await mkdir(join(root, "a/folder"), { recursive: true });
    await writeFile(join(root, "a/folder/old"), "");
  });
  const partOf = async () =>
    // These tests use no member of the source, so an empty object is enough.
    createFolderPart({} as Source, { host: await hostOf(), root, path: "a/folder" });
  const prepare = async (isReady: boolean) => {
    await mkdir(join(root, "a", scratch, "tree/a/folder"), { recursive: true });
    await writeFile(join(root, "a", scratch, "tree/a/folder/new"), "");
    if (isReady) await writeFile(join(root, "a", scratch, "ready"), "");
  };
  afterEach(() => rm(root, { recursive: true, force: true }));
  const content = () => readdir(join(root, "a/folder"));

  test("before the exchange: the existing data stays", async () => {
    for (const isReady of [false, true]) {
      await prepare(isReady);
      const before = await content();
      const part = await partOf();
      expect(await part.settle(attempt)).toBe("as it was");
      expect(await content()).toEqual(before);
      expect(await readdir(join(root, "a"))).toEqual(["folder"]);
    }
  });

  test("between the two renames: the previous data is moved back", async () => {
    await prepare(true);
    await rename(join(root, "a/folder"), join(root, "a", scratch, "old"));
    const part = await partOf();
    expect(await part.settle(attempt)).toBe("as it was");
    expect(await content()).toEqual(["old"]);
  });

  test("after both renames: the restore is complete", async () => {
    await prepare(true);
    await rename(join(root, "a/folder"), join(root, "a", scratch, "old"));
    await rename(join(root, "a", scratch, "tree/a/folder"), join(root, "a/folder"));
    const part = await partOf();
    expect(await part.settle(attempt)).toBe("restored");
    expect(await content()).toEqual(["new"]);
    expect(await part.settle(attempt)).toBe("unknown");
  });
});
