// Common steps of the browser tests of backups.
import { DatabaseSync } from "node:sqlite";
import { randomBytes } from "node:crypto";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import type { Backup, BackupConfiguration } from "../contract/backups/backup.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import { type Backups, expect, type test } from "./fixtures.ts";

export type Service = Parameters<Parameters<typeof test>[2]>[0]["service"];

export const action = (page: Page, name: string, id: number): Locator =>
  page.getByRole("button", { name: `${name} backup ${id}`, exact: true });

/** Returns the newest backup of a configuration that has one. */
export function newestOf({ last_backup: last }: BackupConfiguration): Backup {
  if (last === null) throw new Error("There is no backup yet.");
  return last;
}

/** Backs up the database once, with a new configuration. */
export async function runOnce(backups: Backups): Promise<Backup> {
  const { id } = await backups.createConfiguration();
  return newestOf(await backups.run(id));
}

export const pathOf = ({ provider }: Backups, { path }: Backup) => join(provider.folder, path);

export const showBackup = async (service: ServiceProcess, id: number): Promise<Backup> =>
  (await service.call("GET", `/api/backup/${id}`)).json();

/** Adds data, so that no backup of the database is nearly empty. */
export function fillDatabase({ database }: Backups): void {
  const content = new DatabaseSync(database.file);
  content.exec(
    "create table uploads (content blob); insert into uploads values (randomblob(5000))",
  );
  content.close();
}

/** Replaces the database by a text, so that no run can read it. */
export const breakDatabase = ({ database }: Backups) =>
  writeFile(database.file, "no database at all\n".repeat(500));

/** Replaces a file by random bytes of the same size, so that only reading it shows the damage. */
export const damage = async (file: string) => writeFile(file, randomBytes((await stat(file)).size));

export const listOf = ({ server }: Backups) => `/servers/${server.id}/backups`;

/**
 * Deletes a server's configurations and removes a storage provider from the inventory, so that later tests have only
 * one to choose from. No page that polls them may be open.
 */
export async function removeProvider(
  service: Service,
  { server }: Backups,
  provider: { id: number; name: string },
): Promise<void> {
  const read = async (path: string) => (await service.call("GET", path)).json();
  const listed = async (): Promise<number[]> => {
    const { data }: { data: { id: number }[] } = await read(`/api/server/${server.id}/backups`);
    return data.map(({ id }) => id);
  };
  for (const id of await listed()) await service.call("DELETE", `/api/backup-configuration/${id}`);
  await expect.poll(listed).toEqual([]);
  await service.changeInventory((inventory) => {
    inventory.storage_providers = inventory.storage_providers.filter(
      (line) => !line.startsWith(`{ id: ${provider.id},`),
    );
  });
  await expect
    .poll(async () => JSON.stringify(await read("/api/storage-providers")))
    .not.toContain(`"${provider.name}"`);
}
