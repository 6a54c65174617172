// One PostgreSQL for all service tests; each test file takes a database of its own from it.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import type { TestProject } from "vitest/node";
import { systemClock } from "../clock.ts";
import { startEmbeddedPostgres } from "../store/embedded/embedded-postgres.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be added to
  export interface ProvidedContext {
    postgres: { host: string; user: string; password?: string; port?: number };
  }
}

export default async function setup(project: TestProject) {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-test-"));
  const postgres = await startEmbeddedPostgres({
    folder: join(folder, "postgres"),
    clock: systemClock,
    log: pino({ level: "silent" }),
  });
  const { database: _, ...connection } = postgres.connection;
  project.provide("postgres", connection);
  return async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
