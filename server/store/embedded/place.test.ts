import { once } from "node:events";
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findBinaryPackage, prepareBinaries, removeOldCopies } from "./binaries.ts";
import { runCommand } from "./command.ts";
import { findPlace } from "./place.ts";
import { nameOfPath } from "./settings.ts";
import { isRoot, makeFolder, openProject } from "../../testing/machine.ts";
import { query, silent, startDatabase, startService } from "./testing/instances.ts";

const nobody = { uid: 65_534, gid: 65_534, isOwn: false };

describe("a path that is too long for a socket", () => {
  const makeLongFolder = async () => {
    const folder = join(await makeFolder(), "x".repeat(90), "postgres");
    const socketFolder = join(tmpdir(), `quarterdeck-${nameOfPath(folder)}`);
    onTestFinished(() => rm(socketFolder, { recursive: true, force: true }));
    return { folder, socketFolder };
  };

  test("moves the socket to a closed temporary folder, the same one each time", async () => {
    const { folder, socketFolder } = await makeLongFolder();
    await mkdir(dirname(folder), { recursive: true });
    await chmod(dirname(dirname(folder)), 0o711);
    const { connection } = await startDatabase({ folder });
    expect(connection.host).toBe(socketFolder);
    expect((await stat(socketFolder)).mode & 0o777).toBe(0o700);
    expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
    expect((await findPlace(folder, silent)).socketFolder).toBe(socketFolder);
  });

  test("refuses a temporary folder that is a link or belongs to another account", async () => {
    const { folder, socketFolder } = await makeLongFolder();
    await mkdir(dirname(folder), { recursive: true });
    await chmod(dirname(dirname(folder)), 0o711);
    await symlink(await makeFolder(), socketFolder);
    await expect(findPlace(folder, silent)).rejects.toThrow(`${socketFolder} is not a folder`);
    if (!isRoot) return;
    await rm(socketFolder);
    await mkdir(socketFolder);
    await chown(socketFolder, nobody.uid, nobody.gid);
    await expect(findPlace(folder, silent)).rejects.toThrow("belongs to another user");
  });
});

describe.skipIf(!isRoot)("as root (root only)", () => {
  test("others may only pass through the data folder, whatever the umask", async () => {
    const dataFolder = await makeFolder();
    await startService(dataFolder, { umask: "077" });
    expect((await stat(dataFolder)).mode & 0o777).toBe(0o711);
    expect((await stat(join(dataFolder, "postgres"))).mode & 0o777).toBe(0o711);
  });

  test("below a closed folder, the database is in /var/lib, and a file says where", async () => {
    const closed = await makeFolder();
    const folder = join(closed, "deep", "postgres");
    const elsewhere = join("/var/lib/quarterdeck-postgres", nameOfPath(folder));
    onTestFinished(() => rm(elsewhere, { recursive: true, force: true }));
    const warnings: string[] = [];
    const log = { ...silent, warn: (text: string) => void warnings.push(text) };
    const first = await startDatabase({ folder, log });
    await query(first.connection, "create table t as select 1 as one");
    await first.stop();
    expect((await lstat(closed)).mode & 0o777).toBe(0o700);
    expect(warnings).toEqual([expect.stringContaining(`stored in ${elsewhere}`)]);
    expect(await readFile(join(folder, "moved-to.txt"), "utf8")).toBe(`${elsewhere}\n`);
    expect(await readFile(join(elsewhere, "belongs-to.txt"), "utf8")).toBe(`${folder}\n`);

    // It stays there although the folder is accessible now.
    await chmod(closed, 0o755);
    const second = await startDatabase({ folder, log });
    expect(await query(second.connection, "select * from t")).toEqual([{ one: 1 }]);
    expect(warnings).toHaveLength(1);
    await second.stop();

    await rm(elsewhere, { recursive: true });
    await expect(startDatabase({ folder })).rejects.toThrow("no longer exists");
  });

  test("a copy of the folder does not lead to the database, and a moved one does", async () => {
    const closed = await makeFolder();
    const folder = join(closed, "deep", "postgres");
    const elsewhere = join("/var/lib/quarterdeck-postgres", nameOfPath(folder));
    onTestFinished(() => rm(elsewhere, { recursive: true, force: true }));
    const first = await startDatabase({ folder });
    await query(first.connection, "create table t as select 1 as one");
    const copy = join(closed, "copy", "postgres");
    await cp(dirname(folder), dirname(copy), { recursive: true });
    const refusal = `The database in ${elsewhere} belongs to ${folder}, so ${copy} can't have it`;
    await expect(startDatabase({ folder: copy })).rejects.toThrow(refusal);
    await first.stop();
    await expect(startDatabase({ folder: copy })).rejects.toThrow(refusal);

    await rm(folder, { recursive: true });
    const moved = await startDatabase({ folder: copy });
    expect(await query(moved.connection, "select * from t")).toEqual([{ one: 1 }]);
    expect(await readFile(join(elsewhere, "belongs-to.txt"), "utf8")).toBe(`${copy}\n`);
    // Starts a new database in the former folder.
    await expect(startDatabase({ folder })).rejects.toThrow(`belongs to ${copy}, so ${folder}`);
    await moved.stop();
  });

  test("an existing database whose folder was closed is not replaced by an empty one", async () => {
    const closed = await makeFolder();
    const folder = join(closed, "deep", "postgres");
    await mkdir(join(folder, "data"), { recursive: true });
    await chown(join(folder, "data"), nobody.uid, nobody.gid);
    await expect(findPlace(folder, silent)).rejects.toThrow(`chmod o+x ${closed}`);
  });
});

describe("the programs of PostgreSQL", () => {
  test("are run in place if the database's user can access them", async () => {
    const source = await findBinaryPackage();
    const own = { uid: 0, gid: 0, isOwn: true };
    const { postgres } = await prepareBinaries(source, own, "/nowhere", silent);
    expect(postgres).toBe(join(source.folder, "bin", "postgres"));
  });

  test.skipIf(!isRoot)(
    "are copied once from an inaccessible folder, with the links that npm could not pack (root only)",
    async () => {
      const source = await findBinaryPackage();
      const folder = join(await makeFolder(), "native");
      await cp(source.folder, folder, { recursive: true, verbatimSymlinks: true });
      for (const name of await readdir(join(folder, "lib"))) {
        const path = join(folder, "lib", name);
        if ((await lstat(path)).isSymbolicLink()) await rm(path);
      }
      const reachable = await makeFolder();
      await chmod(reachable, 0o711);
      const copies = join(reachable, "programs");
      const prepare = () => prepareBinaries({ ...source, folder }, nobody, copies, silent);
      const all = await prepare();
      const { output } = await runCommand(all.postgres, ["--version"], nobody);
      expect(output).toMatch(/^postgres \(PostgreSQL\) 18/);
      const { ctimeMs } = await stat(all.postgres);
      expect(await prepare()).toEqual(all);
      expect((await stat(all.postgres)).ctimeMs).toBe(ctimeMs);
      await mkdir(join(copies, "17.0.0-linux-x64"));
      await removeOldCopies(copies, all);
      expect(await readdir(copies)).toHaveLength(1);
    },
  );
});

test.skipIf(!isRoot)(
  "an ordinary user runs it from an own folder, without root (root only: becomes that user)",
  async () => {
    const dataFolder = await makeFolder();
    await chown(dataFolder, nobody.uid, nobody.gid);
    const { child, databasePid, connection } = await startService(dataFolder, {
      uid: nobody.uid,
      gid: nobody.gid,
      project: await openProject(),
    });
    expect((await stat(`/proc/${databasePid}`)).uid).toBe(nobody.uid);
    expect(await query(connection, "select 1 as one")).toEqual([{ one: 1 }]);
    expect((await stat(dataFolder)).mode & 0o777).toBe(0o700);
    const { uid, mode } = await stat(join(dataFolder, "postgres"));
    expect([uid, mode & 0o777]).toEqual([nobody.uid, 0o700]);

    // A later start by root keeps the user of the database.
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    await exit;
    const { pid } = await startDatabase({ folder: join(dataFolder, "postgres") });
    expect((await stat(`/proc/${pid()}`)).uid).toBe(nobody.uid);
  },
);
