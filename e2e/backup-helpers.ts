// What the browser tests of backups say often.
import { DatabaseSync } from "node:sqlite";
import { randomBytes } from "node:crypto";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import type { Backup, BackupConfiguration } from "../contract/backups/backup.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";
import type { Backups } from "./fixtures.ts";

export const action = (page: Page, name: string, id: number): Locator =>
  page.getByRole("button", { name: `${name} backup ${id}`, exact: true });

/** The newest backup of a configuration; there is one. */
export function newestOf({ last_backup: last }: BackupConfiguration): Backup {
  if (last === null) throw new Error("There is no backup yet.");
  return last;
}

/** Backs the database up once, by a configuration of its own. */
export async function runOnce(backups: Backups): Promise<Backup> {
  const { id } = await backups.createConfiguration();
  return newestOf(await backups.run(id));
}

export const pathOf = ({ provider }: Backups, { path }: Backup) => join(provider.folder, path);

export const showBackup = async (service: ServiceProcess, id: number): Promise<Backup> =>
  (await service.call("GET", `/api/backup/${id}`)).json();

/** Gives the database so much that no backup of it is nearly empty. */
export function fillDatabase({ database }: Backups): void {
  const content = new DatabaseSync(database.file);
  content.exec(
    "create table uploads (content blob); insert into uploads values (randomblob(5000))",
  );
  content.close();
}

/** Puts a text in the database's place, so that no run can read it. */
export const breakDatabase = ({ database }: Backups) =>
  writeFile(database.file, "no database at all\n".repeat(500));

/** Other bytes, as many as before, so that only reading them shows it. */
export const damage = async (file: string) => writeFile(file, randomBytes((await stat(file)).size));

export const listOf = ({ server }: Backups) => `/servers/${server.id}/backups`;
