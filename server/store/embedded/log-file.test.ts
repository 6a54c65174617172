import { readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { logSizeBytes, openLog, readLogSince, trimLog } from "./log-file.ts";
import { makeFolder } from "../../testing/machine.ts";

test("truncates a log beyond its limit while it is written, and keeps the old lines once", async () => {
  const path = join(await makeFolder(), "postgres.log");
  const writer = await openLog(path);
  await writer.write("x".repeat(5 * 1024 * 1024));
  await trimLog(path);
  await writer.write("new");
  await writer.close();
  expect(await readFile(path, "utf8")).toBe("new");
  expect((await stat(`${path}.old`)).size).toBe(5 * 1024 * 1024);
});

test("leaves a short log unchanged", async () => {
  const path = join(await makeFolder(), "postgres.log");
  await writeFile(path, "short");
  await trimLog(path);
  expect(await readFile(path, "utf8")).toBe("short");
});

test("reads back what one run wrote, even if the log was truncated meanwhile", async () => {
  const path = join(await makeFolder(), "postgres.log");
  await writeFile(path, "before\n");
  const fromByte = await logSizeBytes(path);
  await writeFile(path, "before\nafter\n");
  expect(await readLogSince(path, fromByte)).toBe("after\n");
  await writeFile(path, "anew\n");
  expect(await readLogSince(path, fromByte)).toBe("anew\n");
  expect(await readLogSince(`${path}.none`, 0)).toBe("");
});

test("does not follow a symbolic link in place of the log", async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, "precious"), "");
  await symlink(join(folder, "precious"), join(folder, "postgres.log"));
  await expect(openLog(join(folder, "postgres.log"))).rejects.toThrow("ELOOP");
});
