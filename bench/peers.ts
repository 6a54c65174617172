// Backs up and restores a site folder and a PostgreSQL database by this service and by Debian's restic, borg and
// borgmatic: the same data on the same disk in the same run, printed as the table of docs/benchmarks.md.
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { startPostgresServer } from "../server/backups/testing/postgres-server.ts";
import { ownUser } from "../server/testing/own-user.ts";
import { startService, type ServiceProcess } from "../server/testing/service-process.ts";
import { megabyte, writeHalfRandom, writeOrders } from "./backup-data.ts";
import { install, restore, takeBackup } from "./drive-backups.ts";
import {
  borg,
  borgmatic,
  borgmaticConfiguration,
  restic,
  toolOf,
  type Subject,
  type Tool,
} from "./peer-programs.ts";
import { median } from "./report.ts";

const rounds = 3;

const steps = ["first backup", "unchanged", "1 % changed", "restore"] as const;

/** Milliseconds and bytes, one for each round. */
type Measured = Record<(typeof steps)[number] | "stored", number[]>;

/** @param size of the folder and of the database, in MB */
export async function run(size: number): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-bench-")));
  const postgres = await startPostgresServer();
  try {
    // When run as root, the database runs as another account, which needs access to its folder.
    await chmod(folder, 0o711);
    for (const name of ["copies", "changes", "sealed", "site"]) await mkdir(join(folder, name));
    const fill = (file: number) => writeHalfRandom(join(folder, "site", String(file)), megabyte);
    for (let file = 0; file < size; file++) await fill(file);
    await postgres.createDatabase("shop");
    await writeOrders(postgres, "shop", size);
    const url = new URL(postgres.url("shop"));
    Object.assign(process.env, {
      PGHOST: url.hostname,
      PGPORT: url.port,
      PGUSER: decodeURIComponent(url.username),
      PGPASSWORD: decodeURIComponent(url.password),
      PGDATABASE: "shop",
    });
    const rows = Math.round((size * megabyte) / 500);
    const subjects: Subject[] = [
      {
        title: `Site folder, ${size} files of 1 MB`,
        type: "site",
        source: { path: join(folder, "site") },
        async change() {
          for (let file = 0; file < size / 100; file++) await fill(file);
        },
        async empty() {
          await rm(join(folder, "gone"), { recursive: true, force: true });
          await rename(join(folder, "site"), join(folder, "gone"));
        },
      },
      {
        title: `PostgreSQL, ${size} MB`,
        type: "database",
        source: {
          dump: "pg_dump -Fc -Z0",
          load: "pg_restore --single-transaction -d shop",
        },
        change: (round) =>
          postgres.query(
            "shop",
            `update orders set noise = md5(noise) || repeat(md5(id::text), 6)
             where id between ${round * (rows / 100)} and ${(round + 1) * (rows / 100)}`,
          ),
        empty: () => postgres.query("shop", "drop table orders"),
      },
    ];
    const identity = await generateX25519Identity();
    const recipient = await identityToRecipient(identity);
    const repository = join(folder, "repository");
    await writeFile(
      join(folder, "borgmatic-site.yaml"),
      borgmaticConfiguration(repository, join(folder, "site")),
    );
    await writeFile(
      join(folder, "borgmatic-database.yaml"),
      `${borgmaticConfiguration(repository, "")}
hooks:
  postgresql_databases:
    - { name: shop, hostname: ${url.hostname}, port: ${url.port}, username: "${process.env["PGUSER"]}", password: "${process.env["PGPASSWORD"]}" }
`,
    );
    Object.assign(process.env, {
      RESTIC_REPOSITORY: repository,
      RESTIC_PASSWORD: "measured",
      RESTIC_CACHE_DIR: join(folder, "restic-cache"),
      BORG_BASE_DIR: join(folder, "borg-base"),
      BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK: "yes",
    });
    await writeFile(
      join(folder, "inventory.yaml"),
      `
servers: [{ id: 1, name: here, connection: local }]
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
  - { id: 2, name: changes, type: local, path: ${folder}/changes }
  - { id: 3, name: sealed, type: local, path: ${folder}/sealed, recipients: [${recipient}] }
sites: [{ id: 1, server: 1, name: site, root: ${folder}/site, user: ${ownUser} }]
databases: [{ id: 1, server: 1, name: shop, engine: postgres, url: "env:SHOP_URL" }]
`,
    );
    const service = await startService(folder, {
      QUARTERDECK_INVENTORY: join(folder, "inventory.yaml"),
      SHOP_URL: postgres.url("shop"),
    });
    try {
      const tools = [
        quarterdeck("Quarterdeck", service, { provider: 1, folder: join(folder, "copies") }),
        quarterdeck("Quarterdeck, encrypted", service, {
          provider: 3,
          folder: join(folder, "sealed"),
          identity,
        }),
        quarterdeck("Quarterdeck, incremental", service, {
          provider: 2,
          folder: join(folder, "changes"),
          incremental: true,
        }),
        ...[restic(repository), borg(repository), borgmatic(repository, folder)].map((peer) =>
          toolOf(peer, repository),
        ),
      ];
      for (const subject of subjects) await measure(subject, tools);
    } finally {
      await service.end("SIGINT");
    }
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function quarterdeck(
  name: string,
  service: ServiceProcess,
  {
    provider,
    folder,
    incremental = false,
    identity,
  }: { provider: number; folder: string; incremental?: boolean; identity?: string },
): Tool {
  let configurationId = 0;
  let backupId = 0;
  return {
    name,
    folder,
    async renew({ type }) {
      if (configurationId > 0)
        await service.call("DELETE", `/api/backup-configuration/${configurationId}?files=remove`);
      configurationId = (await install(service, type, 1, { provider, hold: 24, incremental })).id;
    },
    async back() {
      const { backup, tookMs } = await takeBackup(service, configurationId);
      backupId = backup.id;
      return tookMs;
    },
    restore: async () => (await restore(service, backupId, identity)).tookMs,
  };
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const all = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    // Files that are being replaced, such as recovery pages, may be missing for a moment.
    all.map(({ parentPath, name }) =>
      stat(join(parentPath, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** Each round starts with an empty repository, with the tools one after the other on the same data. */
async function measure(subject: Subject, tools: readonly Tool[]): Promise<void> {
  const measured = new Map<string, Measured>();
  for (let round = 0; round < rounds; round++)
    for (const tool of tools) {
      const its = measured.get(tool.name) ?? {
        "first backup": [],
        unchanged: [],
        "1 % changed": [],
        restore: [],
        stored: [],
      };
      measured.set(tool.name, its);
      await tool.renew(subject);
      const before = await bytesIn(tool.folder);
      its["first backup"].push(await tool.back(subject));
      its.unchanged.push(await tool.back(subject));
      await subject.change(round);
      its["1 % changed"].push(await tool.back(subject));
      its.stored.push((await bytesIn(tool.folder)) - before);
      await subject.empty();
      its.restore.push(await tool.restore(subject));
    }
  console.log(`\n${subject.title}; medians of ${rounds}\n`);
  console.log(`| | ${steps.join(" | ")} | stored by the three |\n|---|${"---:|".repeat(5)}`);
  for (const [name, its] of measured) {
    const times = steps.map((step) => `${(median(its[step]) / 1000).toFixed(2)} s`);
    console.log(
      `| ${name} | ${times.join(" | ")} | ${Math.round(median(its.stored) / megabyte)} MB |`,
    );
  }
}
