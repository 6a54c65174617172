// A PostgreSQL server like an operator's: with its own memory settings, and durable commits.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  startPostgresServer,
  type PostgresServer,
} from "../server/backups/testing/postgres-server.ts";

export const databaseName = "quarterdeck";

type ScaleDatabase = PostgresServer & {
  /** Returns the main process, and all present processes. */
  pids(): Promise<{ main: number; all: number[] }>;
};

export async function startScaleDatabase(folder: string): Promise<ScaleDatabase> {
  const own = join(folder, "postgres");
  const server = await startPostgresServer({
    async makeFolder() {
      await mkdir(own);
      return own;
    },
    settings: {
      fsync: "on",
      synchronous_commit: "on",
      full_page_writes: "on",
      shared_buffers: "1GB",
      max_wal_size: "8GB",
      shared_preload_libraries: "pg_stat_statements",
    },
  });
  await server.createDatabase(databaseName);
  return {
    ...server,
    async pids() {
      const [line = ""] = (await readFile(join(own, "data/postmaster.pid"), "utf8")).split("\n");
      const main = Number(line);
      const children = await readFile(`/proc/${main}/task/${main}/children`, "utf8");
      return { main, all: [main, ...children.trim().split(" ").map(Number)] };
    },
  };
}
