import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished, expect, test } from "vitest";
import { DataFolderInUse, DataFolderUnusable, lockDataFolder } from "./data-lock.ts";
import { isLinux, isRoot, kill, makeFolder, projectFolder } from "./testing/machine.ts";

const nobody = { uid: 65_534, gid: 65_534 };

const modeOf = async (path: string) => (await stat(path)).mode & 0o7777;

const script = (folder: string) => /* js */ `
  import { lockDataFolder } from ${JSON.stringify(import.meta.resolve("./data-lock.ts"))};
  try { lockDataFolder(${JSON.stringify(folder)}); globalThis.gc(); console.log("held"); setInterval(() => {}, 1e6); }
  catch (error) { console.log(error.name); }
`;

/** Locks like earlier versions: with one file in the data folder itself, readable by everybody. */
const earlierScript = (folder: string) => /* js */ `
  import { writeFileSync } from "node:fs";
  import { DatabaseSync } from "node:sqlite";
  globalThis.lock = new DatabaseSync(${JSON.stringify(join(folder, "instance.lock"))});
  try {
    lock.exec("PRAGMA locking_mode = exclusive; PRAGMA journal_mode = off; BEGIN EXCLUSIVE");
    writeFileSync(${JSON.stringify(join(folder, "instance.pid"))}, String(process.pid));
    console.log("held"); setInterval(() => {}, 1e6);
  }
  catch (error) { console.log(error.message); }
`;

/** Does what any account can do with a file that it can read. */
const readerScript = (folder: string) => /* js */ `
  import { DatabaseSync } from "node:sqlite";
  try {
    globalThis.lock = new DatabaseSync(${JSON.stringify(join(folder, "instance.lock"))}, { readOnly: true });
    lock.exec("BEGIN; SELECT * FROM sqlite_schema");
    console.log("held"); setInterval(() => {}, 1e6);
  }
  catch (error) { console.log(error.message); }
`;

/** Starts another process that tries to lock `folder`, and resolves with the first line that it prints. */
async function contend(
  folder: string,
  program = script(folder),
  account: { uid: number; gid: number } | null = null,
) {
  // The program itself gives up root, because another account may not have access to the project's Node.js.
  const become =
    account === null
      ? ""
      : `process.setgroups([]); process.setgid(${account.gid}); process.setuid(${account.uid});\n`;
  // Garbage collection must not release a lock that nothing refers to.
  const args = ["--expose-gc", "--input-type=module", "--eval", `${become}${program}`];
  const child = spawn(process.execPath, args, { cwd: "/", stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = String((await once(child.stdout, "data"))[0]).trim();
  // Until it has exited, it may keep others from the lock that it did not get.
  if (said !== "held" && child.exitCode === null) await once(child, "exit");
  return { child, said };
}

test("a second process on the same data folder gets an error that names the first one", async () => {
  const folder = await makeFolder();
  const { child, said } = await contend(folder);
  expect(said).toBe("held");
  expect(() => lockDataFolder(folder)).toThrow(DataFolderInUse);
  expect(() => lockDataFolder(folder)).toThrow(folder);
  expect(() => lockDataFolder(folder)).toThrow(`process ${child.pid}`);
});

test("of many processes that start at once, exactly one locks the data folder", async () => {
  const folder = await makeFolder();
  const all = await Promise.all([1, 2, 3, 4].map(() => contend(folder)));
  const said = all.map((one) => one.said).sort();
  expect(said).toEqual(["DataFolderInUse", "DataFolderInUse", "DataFolderInUse", "held"]);
});

test("the data folder is unlocked as soon as its process is killed", async () => {
  const folder = await makeFolder();
  const { child, said } = await contend(folder);
  expect(said).toBe("held");
  await kill(child);
  lockDataFolder(folder).release();
});

test("the data folder is unlocked after a release, within one process, too", async () => {
  const folder = join(await makeFolder(), "not", "there", "yet");
  const lock = lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow(DataFolderInUse);
  expect(await readdir(join(folder, "lock"))).toEqual(["instance.lock", "instance.pid"]);
  lock.release();
  lock.release();
  lockDataFolder(folder).release();
  expect(await readdir(folder)).toEqual(["instance.lock", "lock"]);
  expect(await readdir(join(folder, "lock"))).toEqual(["instance.lock"]);
});

test("reports a data folder that cannot exist as such, not as in use", async () => {
  const file = join(await makeFolder(), "file");
  await writeFile(file, "");
  const impossible = join(file, "data");
  expect(() => lockDataFolder(impossible)).toThrow(DataFolderUnusable);
  expect(() => lockDataFolder(impossible)).toThrow("QUARTERDECK_DATA");
});

test("the service prints in one sentence why it cannot use its data folder", async () => {
  const file = join(await makeFolder(), "file");
  await writeFile(file, "");
  // For a folder that can't be created below /proc, the system reports that it does not exist.
  for (const folder of [join(file, "data"), ...(isLinux ? ["/proc/quarterdeck/data"] : [])]) {
    const child = spawn(process.execPath, [join(projectFolder, "server/main.ts")], {
      env: { PATH: process.env["PATH"], PORT: "0", QUARTERDECK_DATA: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(stderr.trim()).toMatch(
      /^Couldn't use the data folder .*: E\w+: .* Set QUARTERDECK_DATA .*\.$/,
    );
    expect(stdout).toBe("");
  }
});

test("no other account can access the lock, whatever the umask and earlier versions left", async () => {
  const folder = await makeFolder();
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const closed = async () => {
    const lock = lockDataFolder(folder);
    const names = ["instance.lock", "lock", "lock/instance.lock", "lock/instance.pid"];
    const modes = await Promise.all(names.map((name) => modeOf(join(folder, name))));
    lock.release();
    return modes;
  };
  const expected = [0o600, 0o700, 0o600, 0o600];
  expect(await closed()).toEqual(expected);
  for (const name of ["instance.lock", "lock", "lock/instance.lock"])
    await chmod(join(folder, name), 0o777);
  await writeFile(join(folder, "lock/instance.pid"), "1", { mode: 0o666 });
  expect(await closed()).toEqual(expected);
});

test("refuses a lock that is a link, not a file or another account's, with its path", async () => {
  const folder = await makeFolder();
  const elsewhere = await makeFolder();
  const lock = join(folder, "lock");
  await symlink(elsewhere, lock);
  expect(() => lockDataFolder(folder)).toThrow(DataFolderUnusable);
  expect(() => lockDataFolder(folder)).toThrow(`${lock} is not a plain folder`);
  await rm(lock);
  await mkdir(lock);
  await symlink(join(elsewhere, "file"), join(lock, "instance.lock"));
  expect(() => lockDataFolder(folder)).toThrow(`${lock}/instance.lock is not a plain file`);
  expect(await readdir(elsewhere)).toEqual([]);
  await rm(join(lock, "instance.lock"));
  if (isRoot) {
    await chown(lock, nobody.uid, nobody.gid);
    expect(() => lockDataFolder(folder)).toThrow(`${lock} belongs to another user`);
    await chown(lock, 0, 0);
  }
  lockDataFolder(folder).release();
});

test("an earlier version and this one never lock the data folder at the same time", async () => {
  const folder = await makeFolder();
  const earlier = await contend(folder, earlierScript(folder));
  expect(earlier.said).toBe("held");
  expect(() => lockDataFolder(folder)).toThrow(DataFolderInUse);
  expect(() => lockDataFolder(folder)).toThrow(`process ${earlier.child.pid}`);
  await kill(earlier.child);
  const lock = lockDataFolder(folder);
  expect((await contend(folder, earlierScript(folder))).said).toMatch(/locked/);
  expect(await readdir(folder)).not.toContain("instance.pid");
  lock.release();
  expect((await contend(folder, earlierScript(folder))).said).toBe("held");
});

test.skipIf(!isRoot)(
  "an account that has opened the readable file of an earlier version neither stops the service nor gets access again (root only)",
  async () => {
    const folder = await makeFolder();
    await chmod(folder, 0o711);
    await writeFile(join(folder, "instance.lock"), "", { mode: 0o644 });
    const stranger = await contend(folder, readerScript(folder), nobody);
    expect(stranger.said).toBe("held");
    expect((await contend(folder, earlierScript(folder))).said).toMatch(/locked/);
    const lock = lockDataFolder(folder);
    expect((await contend(folder, earlierScript(folder))).said).toMatch(/locked/);
    expect((await contend(folder, readerScript(folder), nobody)).said).toMatch(/unable to open/);
    lock.release();
  },
);

test.skipIf(!isRoot)(
  "root leaves an ordinary user's data folder usable for that user (root only)",
  async () => {
    const folder = await makeFolder();
    await chown(folder, nobody.uid, nobody.gid);
    lockDataFolder(folder).release();
    const { said } = await contend(folder, earlierScript(folder), nobody);
    expect(said).toBe("held");
    for (const name of ["lock", "lock/instance.lock"])
      expect((await stat(join(folder, name))).uid).toBe(nobody.uid);
  },
);
