import { statSync, truncateSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { logPath, maxLogBytes, readLogStart } from "./log-files.ts";
import { rotateLog } from "./log-rotation.ts";
import { readLog } from "./log-reader.ts";
import { makeFolder } from "./testing/supervisor.ts";

test("truncates a sparse log of terabytes, and copies hardly anything", async (context) => {
  const folder = makeFolder(context);
  writeFileSync(logPath(folder), "first line\n");
  const size = 2 * 1024 ** 4;
  truncateSync(logPath(folder), size);
  expect(await rotateLog(folder)).toBe(true);
  expect(statSync(logPath(folder)).size).toBe(0);
  expect(statSync(logPath(folder, 1)).size).toBeLessThanOrEqual(9 * maxLogBytes);
  expect(readLogStart(folder)).toBe(size);
  expect(readLog(folder, { offset: size })).toMatchObject({ text: "", start: size, end: size });
});
