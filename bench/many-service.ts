// A service with 1,000 sites on 20 servers, and 1,000 workers on the first of the sites.
import { chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDashboard } from "../server/setup/build.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { startDatabase, storeWorkers } from "./database.ts";

export const siteCount = 1_000;
export const workerCount = 1_000;
const serverCount = 20;

export type ManyService = ServiceProcess & { stop(): Promise<void> };

const kinds = ["shop", "blog", "api", "docs", "status", "academy", "forum", "jobs"];
const customers = ["acme", "globex", "initech", "umbrella", "hooli", "stark", "wayne"];
const queues = ["emails", "exports", "imports", "reports", "billing", "search", "media", "sync"];

const range = (count: number) => Array.from({ length: count }, (_, place) => place + 1);
const oneOf = (words: readonly string[], place: number) => words[place % words.length];

const inventory = (folder: string) =>
  [
    "servers:",
    ...range(serverCount).map((id) => `  - { id: ${id}, name: web-${id}, connection: local }`),
    "sites:",
    ...range(siteCount).map((id) => {
      const name = `${oneOf(kinds, id)}-${id}.${oneOf(customers, id)}.example.com`;
      return `  - { id: ${id}, server: ${1 + (id % serverCount)}, name: ${name}, root: ${folder}, user: ${ownUser} }`;
    }),
    "",
  ].join("\n");

export async function startManyService(): Promise<ManyService> {
  await buildDashboard();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
  // When run as root, the database runs as another account, which needs access to its folder.
  await chmod(folder, 0o711);
  await writeFile(join(folder, "inventory.yaml"), inventory(folder));
  const database = await startDatabase(folder);
  const service = await startService(join(folder, "data"), {
    QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
    DATABASE_URL: database.url,
  });
  await storeWorkers(database.url, workerCount, queues);
  return {
    ...service,
    async stop() {
      await service.end("SIGINT");
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
