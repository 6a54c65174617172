import { readFile, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Page } from "../../contract/paging.ts";
import {
  createBackupTestService,
  nightly,
  soon,
  type BackupTestService,
} from "./testing/backup-service.ts";

let service: BackupTestService;
beforeEach(async () => {
  service = await createBackupTestService();
});
afterEach(() => service.close());

const countOf = async (server: number) =>
  (await service.json<Page<BackupConfiguration>>("GET", `/api/server/${server}/backups`)).body.meta
    .total;

test("a configuration follows its database to the server that the inventory moves it to", async () => {
  const { status } = await service.json("POST", "/api/server/1/backup-configuration", nightly);
  expect(status).toBe(201);
  expect([await countOf(1), await countOf(2)]).toEqual([1, 0]);
  const text = await readFile(service.inventoryFile, "utf8");
  await writeFile(
    service.inventoryFile,
    text.replace("{ id: 1, server: 1, name: orders", "{ id: 1, server: 2, name: orders"),
  );
  await soon(async () => expect([await countOf(1), await countOf(2)]).toEqual([0, 1]));
});
