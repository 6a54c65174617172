// The files of the large seed: an inventory, a folder and an artisan script for each site, SQLite databases.
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ConfigError } from "../../config.ts";
import { accountName, ownAccount } from "../../hosts/account.ts";
import { toError } from "../../to-error.ts";
import { largePlan as plan } from "./large-plan.ts";

const rowsPerDatabase = 200;

type SeedState = {
  seed: "large";
  /** Port of the seed's receiver of webhooks on this machine; 0 = none yet. */
  receiverPort: number;
  /** Whether everything was created once; later changes by users are kept. */
  isDone: boolean;
};

const stateFile = (dataFolder: string) => join(dataFolder, "seed.json");
export const sitesFolder = (dataFolder: string): string => join(dataFolder, "seed", "sites");

export const writeState = (dataFolder: string, state: SeedState): Promise<void> =>
  writeFile(stateFile(dataFolder), `${JSON.stringify(state)}\n`, { mode: 0o600 });

/** @returns null in a folder without a seed */
async function readState(dataFolder: string): Promise<SeedState | null> {
  try {
    const state: SeedState = JSON.parse(await readFile(stateFile(dataFolder), "utf8"));
    return state;
  } catch (error) {
    if (toError(error).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Writes the files into an empty folder; changes nothing where they exist.
 * @throws ConfigError for a folder that contains anything else
 */
export async function prepareFiles(dataFolder: string): Promise<SeedState> {
  const stored = await readState(dataFolder);
  if (stored !== null) return stored;
  const found = await readdir(dataFolder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  // An interrupted seed has only written its own folder.
  if (found.some((name) => name !== "seed"))
    throw new ConfigError(
      `Couldn't seed ${dataFolder}: the folder already has other data. Set QUARTERDECK_DATA to an empty folder.`,
    );

  const folder = join(dataFolder, "seed");
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  for (const name of ["copies", "databases", "sites"])
    await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
  for (const site of plan.sites) await writeSite(join(sitesFolder(dataFolder), site.name), site);
  for (const { id, name } of plan.databases)
    await writeDatabase(databasePath(folder, name), id === plan.brokenDatabase);
  const inventoryFile = join(dataFolder, "inventory.yaml");
  await writeFile(inventoryFile, inventory(folder), { mode: 0o600 });
  const state: SeedState = { seed: "large", receiverPort: 0, isDone: false };
  await writeState(dataFolder, state);
  return state;
}

const databasePath = (folder: string, name: string) => join(folder, "databases", `${name}.sqlite`);

async function writeSite(root: string, site: { id: number; name: string }): Promise<void> {
  await mkdir(join(root, "storage"), { recursive: true, mode: 0o700 });
  await writeFile(join(root, "index.html"), `<h1>${site.name}</h1>\n`.repeat(200 + site.id * 20));
  // Repeated text compresses to next to nothing, and a nearly empty backup has a warning.
  await writeFile(join(root, "photo.jpg"), noise(site.name, 4096 + site.id * 512));
  await writeFile(join(root, "artisan"), artisan(site.id), { mode: 0o700 });
}

/**
 * Returns the same incompressible bytes for the same name.
 * @param size in bytes
 */
const noise = (name: string, size: number): Buffer =>
  createHash("shake256", { outputLength: size }).update(name).digest();

/** Returns the script of a site's workers. A worker is one sleeping process, so that sixty of them cost next to nothing. */
function artisan(site: number): string {
  const failing = plan.failing
    .filter((worker) => worker.site === site)
    .map(
      ({ queue }) =>
        `*--queue=${queue}*) echo 'RuntimeException: Class "App\\Jobs\\ProcessOrder" not found'; exit 1 ;;`,
    );
  // The first exits come fast, so that the crash loop is detected soon; the later ones cost little.
  const looping =
    plan.crashLoop.site === site
      ? [
          `*--queue=${plan.crashLoop.queue}*) echo 'Connected to search'; echo . >> storage/starts; ` +
            `[ "$(wc -l < storage/starts)" -gt 5 ] && sleep 45 || sleep 2; echo 'Connection reset by peer'; exit 1 ;;`,
        ]
      : [];
  return `#!/bin/sh
echo "Processing jobs: $*"
case "$*" in
${[...failing, ...looping].map((line) => `  ${line}\n`).join("")}  *) exec sleep 2000000 ;;
esac
`;
}

async function writeDatabase(path: string, isBroken: boolean): Promise<void> {
  if (isBroken) await writeFile(path, "This file is not a SQLite database.\n".repeat(40));
  else {
    const database = new DatabaseSync(path);
    database.exec(`
      create table if not exists entries (id integer primary key, customer text not null, cents integer not null);
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rowsPerDatabase})
      insert or ignore into entries select n, 'customer ' || (n % 40), n * 137 % 20000 from numbers;
    `);
    database.close();
  }
  await chmod(path, 0o600);
}

function inventory(folder: string): string {
  const text = JSON.stringify;
  const own = ownAccount();
  // Root's own folders belong to no site unless the inventory names root.
  const user = own.uid === 0 ? `, user: ${accountName(own)}` : "";
  const kinds = {
    servers: plan.servers.map(
      ({ id, name, zone }) =>
        `id: ${id}, name: ${text(name)}, time_zone: ${zone}, connection: local`,
    ),
    sites: plan.sites.map(
      ({ id, server, name }) =>
        `id: ${id}, server: ${server}, name: ${text(name)}, root: ${text(join(folder, "sites", name))}, artisan: sh artisan${id <= 4 ? `, databases: [${id}]` : ""}${user}`,
    ),
    databases: plan.databases.map(
      ({ id, server, name }) =>
        `id: ${id}, server: ${server}, name: ${text(name)}, engine: sqlite, path: ${text(databasePath(folder, name))}${user}`,
    ),
    storage_providers: [
      `id: 1, name: backup disk, type: local, path: ${text(join(folder, "copies"))}`,
      // Below a file, where no account can create a folder.
      `id: 2, name: old disk, type: local, path: ${text(join(folder, "sites", plan.sites[0]?.name ?? "", "index.html", "copies"))}`,
    ],
    notification_channels: plan.channels.map(({ id, name, type }) =>
      type === "email"
        ? `id: ${id}, name: ${text(name)}, type: email, email: ${name}@example.com`
        : `id: ${id}, name: ${text(name)}, type: ${type}, webhook: ${text(`file:${join(folder, "slack.url")}`)}`,
    ),
  };
  return `# Written by --seed large.\n${Object.entries(kinds)
    .map(([kind, entries]) => `${kind}:\n${entries.map((one) => `  - { ${one} }\n`).join("")}`)
    .join("\n")}`;
}

/** Writes the URL that the Slack channels read as their secret. */
export const writeSlackUrl = (dataFolder: string, url: string): Promise<void> =>
  writeFile(join(dataFolder, "seed", "slack.url"), url, { mode: 0o600 });
