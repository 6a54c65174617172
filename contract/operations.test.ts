import { expect, test } from "vitest";
import { interfaceOperations, operations } from "./operations.ts";
import { pathOf } from "./operation.ts";

test("the interface has 22 operations: 9 for backups, 7 for workers, 4 for webhooks, 2 for notifications", () => {
  const tags = Object.values(interfaceOperations).map((row) => row.tag);
  const count = (tag: string) => tags.filter((other) => other === tag).length;
  expect(tags).toHaveLength(22);
  expect([count("backups"), count("workers"), count("webhooks"), count("notifications")]).toEqual([
    9, 7, 4, 2,
  ]);
});

test("no two operations share a method and a path", () => {
  const rows = Object.values(operations).map(({ method, path }) => `${method} ${path}`);
  expect(new Set(rows).size).toBe(rows.length);
});

test("fills the ids into a path", () => {
  expect(pathOf(operations.stopWorker, { id: 7 })).toBe("/api/worker/7/stop");
  expect(pathOf(operations.runBackup, { backupConfigurationId: 3 })).toBe("/api/backup/3");
});
