// Starts one PostgreSQL for all service tests. They get their own databases, copied from a migrated template,
// because running all migrations for each of hundreds of databases would take longer than many tests.
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { createLog } from "../log.ts";
import { openDatabase } from "../store/database.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded-postgres.ts";
import { startTestJobs } from "./jobs.ts";
import { modelsVariable } from "./model.ts";
import { keepTemporaryInMemory, makeMemoryFolder, removeDeadFolders } from "./memory-folder.ts";

const templateDatabase = "migrated";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be augmented
  export interface ProvidedContext {
    postgres: { host: string; user: string; password?: string; port?: number };
    /** A migrated, empty database; test databases are copies of it. */
    templateDatabase: string;
  }
}

export default async function setup(project: TestProject) {
  await removeDeadFolders();
  const removeTemporary = await keepTemporaryInMemory();
  const folder = await makeMemoryFolder("quarterdeck-test-");
  const postgres = await startEmbeddedPostgres({
    folder: join(folder, "postgres"),
    log: createLog("silent"),
  });
  const models = await makeMemoryFolder("quarterdeck-models-");
  await chmod(models, 0o711);
  process.env[modelsVariable] = models;
  const { database: _, ...connection } = postgres.connection;
  await makeTemplate(connection);
  project.provide("postgres", connection);
  project.provide("templateDatabase", templateDatabase);
  return async () => {
    await postgres.stop();
    for (const one of [folder, models]) await rm(one, { recursive: true, force: true });
    await removeTemporary();
  };
}

async function makeTemplate(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...connection, database: "postgres" });
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  // Password authentication takes half the time of a connection, and tests make thousands. The folder still limits access.
  const { rows } = await client.query<{ hba_file: string }>("show hba_file");
  const rules = `local all ${client.user} trust\nlocal all all scram-sha-256\n`;
  for (const { hba_file: file } of rows) await writeFile(file, rules);
  await client.query("select pg_reload_conf()");
  await client.end();
  const made = { ...connection, database: templateDatabase };
  const { db, close } = await openDatabase(made, () => undefined);
  const jobs = await startTestJobs({ connection: made, db });
  await jobs.stop(0);
  await close();
}
