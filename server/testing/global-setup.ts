// One PostgreSQL for all service tests; each test file gets a database of its own, copied from a migrated template:
// running all migrations for each of hundreds of databases would take longer than many tests.
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { createLog } from "../log.ts";
import { openDatabase } from "../store/database.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded-postgres.ts";
import { startTestJobs } from "./jobs.ts";

const templateDatabase = "migrated";

/** Several times what all databases of a run take together. */
const leastFreeBytes = 4 * 1024 ** 3;

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be added to
  export interface ProvidedContext {
    postgres: { host: string; user: string; password?: string; port?: number };
    /** A migrated, empty database; test databases are copies of it. */
    templateDatabase: string;
  }
}

export default async function setup(project: TestProject) {
  const folder = await mkdtemp(join(await roomyMemory(), "quarterdeck-test-"));
  const postgres = await startEmbeddedPostgres({
    folder: join(folder, "postgres"),
    log: createLog("silent"),
  });
  const { database: _, ...connection } = postgres.connection;
  await makeTemplate(connection);
  project.provide("postgres", connection);
  project.provide("templateDatabase", templateDatabase);
  return async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** A database for each test file is thousands of files made and deleted, which a disk is slow at. */
async function roomyMemory(): Promise<string> {
  const memory = "/dev/shm";
  const free = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free < leastFreeBytes ? tmpdir() : memory;
}

async function makeTemplate(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...connection, database: "postgres" });
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const made = { ...connection, database: templateDatabase };
  const { db, close } = await openDatabase(made, () => undefined);
  const jobs = await startTestJobs({ connection: made, db });
  await jobs.stop(0);
  await close();
}
