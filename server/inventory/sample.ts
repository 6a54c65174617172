// Creates the first inventory: this machine, and a small site with a real queue, a real database and a storage, so that the first
// screen shows something that works.
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { ownAccount } from "../hosts/account.ts";

const artisanSource = fileURLToPath(new URL("sample-artisan.cjs", import.meta.url));
const firstJobs = 12;

/** Folder of the sample's site, which distinguishes it from sites of users. */
export const sampleRoot = (dataFolder: string): string => join(dataFolder, "sample-site");

/** Writes the inventory file and the sample's files. Paths are absolute, so that the file may be moved. */
export async function writeSample(file: string, dataFolder: string): Promise<void> {
  const folder = sampleRoot(dataFolder);
  // Private whatever the umask, because programs must not run in a folder that others can write to.
  await mkdir(join(folder, "jobs"), { recursive: true, mode: 0o700 });
  // The data folder may be inside a project of ES modules, such as Quarterdeck's own, but the script is CommonJS.
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "commonjs" }\n', {
    mode: 0o600,
  });
  await copyFile(artisanSource, join(folder, "artisan"));
  await chmod(join(folder, "artisan"), 0o700);
  for (let number = 1; number <= firstJobs; number++)
    await writeFile(
      join(folder, "jobs", `default-${String(number).padStart(4, "0")}.json`),
      JSON.stringify({ name: `Send the welcome mail ${number}`, milliseconds: 400 }),
      { mode: 0o600 },
    );
  const database = join(folder, "orders.sqlite");
  writeDatabase(database);
  await chmod(database, 0o600);
  await mkdir(join(dataFolder, "backups"), { recursive: true, mode: 0o700 });

  // Root's own files belong to no site unless the inventory names root.
  const user = ownAccount().uid === 0 ? ", user: root" : "";
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  await writeFile(
    file,
    `# yaml-language-server: $schema=./inventory.schema.json
# What Quarterdeck looks after. It is read again whenever it changes; a mistake is told with its line
# and the last good state stays. Secrets are written as env:NAME or file:PATH, never as themselves.

servers:
  - { id: 1, name: ${JSON.stringify(hostname() || "this-machine")}, time_zone: ${zone}, connection: local }

# A sample that really works. Put your own sites beside it or in its place, for instance:
#   - { id: 2, server: 1, name: shop.example.com, root: /srv/shop, artisan: php artisan }
sites:
  - { id: 1, server: 1, name: sample, root: ${JSON.stringify(folder)}, artisan: node artisan, databases: [1]${user} }

databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${JSON.stringify(database)} }

storage_providers:
  - { id: 1, name: this disk, type: local, path: ${JSON.stringify(join(dataFolder, "backups"))} }

notification_channels:
  - { id: 1, name: ops, type: slack, webhook: env:OPS_SLACK }
  - { id: 2, name: on-call, type: email, email: on-call@example.com }
`,
    { mode: 0o600 },
  );
}

function writeDatabase(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`
    create table if not exists orders (id integer primary key, customer text not null, cents integer not null);
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 500)
    insert or ignore into orders select n, 'customer ' || (n % 40), n * 137 % 20000 from numbers;
  `);
  database.close();
}
