import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished, expect, test } from "vitest";
import { DataFolderInUse, DataFolderUnusable, lockDataFolder } from "./data-lock.ts";
import { kill, makeFolder } from "./testing.ts";

const script = (folder: string) => /* js */ `
  import { lockDataFolder } from ${JSON.stringify(import.meta.resolve("./data-lock.ts"))};
  try { lockDataFolder(${JSON.stringify(folder)}); globalThis.gc(); console.log("held"); setInterval(() => {}, 1e6); }
  catch (error) { console.log(error.name); }
`;

/** Another process that tries to hold `folder`; answers with what it said first. */
async function contend(folder: string) {
  // Collected garbage must not take a lock with it that nobody refers to.
  const args = ["--expose-gc", "--input-type=module", "--eval", script(folder)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said]: [Buffer] = (await once(child.stdout, "data")) as [Buffer];
  return { child, said: said.toString().trim() };
}

test("a second process on the same data folder is told who holds it", async () => {
  const folder = await makeFolder();
  const { child, said } = await contend(folder);
  expect(said).toBe("held");
  expect(() => lockDataFolder(folder)).toThrow(DataFolderInUse);
  expect(() => lockDataFolder(folder)).toThrow(folder);
  expect(() => lockDataFolder(folder)).toThrow(`process ${child.pid}`);
});

test("of many processes that start at once, one gets the data folder", async () => {
  const folder = await makeFolder();
  const all = await Promise.all([1, 2, 3, 4].map(() => contend(folder)));
  const said = all.map((one) => one.said).sort();
  expect(said).toEqual(["DataFolderInUse", "DataFolderInUse", "DataFolderInUse", "held"]);
});

test("the data folder is free at once when its holder is killed", async () => {
  const folder = await makeFolder();
  const { child, said } = await contend(folder);
  expect(said).toBe("held");
  await kill(child);
  lockDataFolder(folder).release();
});

test("the data folder is free after release, within one process too", async () => {
  const folder = join(await makeFolder(), "not", "there", "yet");
  const lock = lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow(DataFolderInUse);
  lock.release();
  lock.release();
  lockDataFolder(folder).release();
  expect(await readdir(folder)).toEqual(["instance.lock"]);
});

test("a data folder that cannot be is told as such, not as in use", async () => {
  const file = join(await makeFolder(), "file");
  await writeFile(file, "");
  const impossible = join(file, "data");
  expect(() => lockDataFolder(impossible)).toThrow(DataFolderUnusable);
  expect(() => lockDataFolder(impossible)).toThrow("QUARTERDECK_DATA");
});
