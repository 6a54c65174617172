// The service is killed at random moments of runs and restores. What is listed as finished must be whole, what is not
// must be gone, and a target must be the old or the new one.
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { storedFilesIn } from "../storage/testing/stored-files.ts";
import { makeMemoryFolder } from "../testing/memory-folder.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { administer, databaseUrl } from "../testing/service.ts";
import { startService, type ServiceProcess } from "../testing/service-process.ts";
import { nightly } from "./testing/backup-service.ts";
import { startMariadbServer, type MariadbServer } from "./testing/mariadb-server.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./testing/postgres-server.ts";
import { createRemoteServer } from "../ssh/testing/remote-server.ts";
import { ownUser } from "../testing/own-user.ts";
import { keysOf } from "../../contract/keys-of.ts";
import { soon } from "../testing/soon.ts";

/** Kills in runs of all kinds of sources, and as many in restores. `npm run soak -- kills` has 25. */
const rounds = Number(process.env["CRASH_ROUNDS"] ?? 1);
const seed = makeSeed();
const random = makeRandom(seed);
const database = `test_${randomBytes(6).toString("hex")}`;

const remote = createRemoteServer();
let folder: string;
let service: ServiceProcess;
let mariadb: MariadbServer;
let postgres: PostgresServer | null;

const start = async () => {
  service = await startService(folder, {
    DATABASE_URL: databaseUrl(database),
    POSTGRES: postgres?.url("shop") ?? "postgres://nobody@127.0.0.1:9/shop",
    MARIADB: mariadb.url("shop"),
  });
};

beforeAll(async () => {
  await administer(`create database ${database}`);
  postgres = hasPostgresServer ? await startPostgresServer() : null;
  await postgres?.createDatabase("shop");
  mariadb = await startMariadbServer();
  await mariadb.createDatabase("shop");
  folder = await realpath(await makeMemoryFolder("quarterdeck-crash-"));
  await mkdir(join(folder, "shop"));
  await mkdir(join(folder, "copies"));
  await writeFile(
    join(folder, "inventory.yaml"),
    `
servers:
${[1, 2, 3, 4].map((id) => `  - { id: ${id}, name: server-${id}, connection: local }`).join("\n")}
  - { id: 5, name: server-5, connection: ${await remote.connection()} }
sites:
  - { id: 1, server: 2, name: shop, root: ${folder}/shop, user: ${ownUser} }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/orders.sqlite, user: ${ownUser} }
  - { id: 2, server: 3, name: pg, engine: postgres, url: env:POSTGRES }
  - { id: 3, server: 4, name: maria, engine: mysql, url: env:MARIADB }
  - { id: 4, server: 5, name: far, engine: sqlite, path: ${folder}/far.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
`,
  );
  await start();
});
afterAll(async () => {
  await service.end("SIGINT");
  await mariadb.stop();
  await postgres?.stop();
  await administer(`drop database ${database} with (force)`);
  await rm(folder, { recursive: true, force: true });
});

const get = async <Body>(path: string): Promise<Body> => (await service.call("GET", path)).json();
const show = (id: number) => get<BackupConfiguration>(`/api/backup-configuration/${id}`);

type Target = {
  /** Each has one of its own, which does one thing at a time. */
  server: number;
  id: { backupable_type: "database" | "site"; backupable_id: number };
  write(version: string): Promise<void>;
  /** The version that is there, and how much of it; several versions where it is half of one and half of another. */
  read(): Promise<string>;
  whole: number;
};

/** Makes the versions and counts of the rows of one table into what `read` answers. */
const countVersions = "select version, count(*) from orders group by version";

const sqliteTarget = (server: number, backupable_id: number, name: string): Target => ({
  server,
  id: { backupable_type: "database", backupable_id },
  async write(version) {
    const connection = new DatabaseSync(join(folder, name));
    connection.exec(`
      create table if not exists orders (id integer primary key, version text, filler blob);
      begin; delete from orders;
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)
      insert into orders select i, '${version}', randomblob(1000) from n; commit;`);
    connection.close();
  },
  async read() {
    const connection = new DatabaseSync(join(folder, name));
    const [whole] = connection.prepare("pragma integrity_check").all();
    const rows = connection.prepare(countVersions).all();
    connection.close();
    const damage = whole?.["integrity_check"] === "ok" ? "" : "damaged: ";
    return damage + rows.map((row) => Object.values(row).join(" ")).join();
  },
  whole: 6000,
});

/** One of each kind that can be backed up; each has a content that tells its version. */
const targets = {
  SQLite: sqliteTarget(1, 1, "orders.sqlite"),
  "SQLite on a remote server": sqliteTarget(5, 4, "far.sqlite"),
  site: {
    server: 2,
    id: { backupable_type: "site", backupable_id: 1 },
    async write(version) {
      for (let count = 0; count < 60; count++)
        await writeFile(
          join(folder, `shop/${count}`),
          `${version} ${randomBytes(50_000).toString("hex")}`,
        );
    },
    async read() {
      const names = await readdir(join(folder, "shop"));
      const versions = new Set<string>();
      for (const name of names)
        versions.add((await readFile(join(folder, "shop", name), "utf8")).split(" ")[0] ?? "");
      return `${[...versions].join()} ${names.length}`;
    },
    whole: 60,
  },
  PostgreSQL: {
    server: 3,
    id: { backupable_type: "database", backupable_id: 2 },
    async write(version) {
      await postgres?.query(
        "shop",
        `begin; drop table if exists orders;
         create table orders as select i as id, '${version}' as version, sha512(i::text::bytea) as filler
           from generate_series(1, 60000) i;
         alter table orders add primary key (id); commit`,
      );
    },
    async read() {
      const rows = (await postgres?.query("shop", countVersions)) ?? [];
      return rows.map((row) => Object.values(row).join(" ")).join();
    },
    whole: 60_000,
  },
  MariaDB: {
    server: 4,
    id: { backupable_type: "database", backupable_id: 3 },
    async write(version) {
      await mariadb.query(
        "shop",
        `create or replace table orders (primary key (id)) as
         select seq as id, '${version}' as version, sha2(seq, 512) as filler from seq_1_to_60000`,
      );
    },
    async read() {
      const lines = await mariadb.query("shop", countVersions);
      return lines.trim().replaceAll("\t", " ").replaceAll("\n", ",");
    },
    whole: 60_000,
  },
} as const satisfies Record<string, Target>;
type Kind = keyof typeof targets;
const kinds = keysOf(targets).filter((kind) => kind !== "PostgreSQL" || hasPostgresServer);

/** Nothing is under way any more. @returns all backups of all configurations */
async function settled(ids: number[]): Promise<Backup[]> {
  return soon(async () => {
    const backups = (await Promise.all(ids.map(show))).flatMap((one) => one.backups);
    for (const { id, status, restore_status, output } of backups) {
      expect(["finished", "failed"], `backup ${id}: ${output}`).toContain(status);
      expect(restore_status, `restore of ${id}`).not.toBe("running");
    }
    return backups;
  });
}

/** The storage holds exactly what is listed as finished, byte for byte. */
async function expectHonestStorage(ids: number[], backups: readonly Backup[]): Promise<void> {
  const finished = backups.filter(({ status }) => status === "finished");
  await soon(async () => {
    expect(await storedFilesIn(join(folder, "copies"))).toEqual(
      finished.map(({ path }) => path).sort(),
    );
  });
  for (const { path, checksum } of finished) {
    const file = await readFile(join(folder, "copies", path));
    expect(createHash("sha256").update(file).digest("hex"), path).toBe(checksum);
    const manifest = await readFile(join(folder, "copies", `${path}.json`), "utf8");
    expect(JSON.parse(manifest)).toMatchObject({ sha256: checksum, size: file.length });
  }
  expect(ids.length).toBeGreaterThan(0);
}

async function install(kind: Kind): Promise<number> {
  const { server, id: source } = targets[kind];
  // One of them keeps to full backups.
  const incremental = kind !== "SQLite";
  const body = { ...nightly, name: kind, hold: 3, incremental, ...source };
  const response = await service.call("POST", `/api/server/${server}/backup-configuration`, body);
  const { id }: BackupConfiguration = await response.json();
  await vi.waitFor(async () => expect((await show(id)).status).toBe("installed"), 60_000);
  return id;
}

type Hit = { kind: Kind; id: number; good: number; before: string; afterMs: number };

test(
  `over kills in runs and restores of each kind, ${rounds} of each, nothing is lost, halved or left behind (CRASH_SEED=${seed})`,
  // Each kill is noticed by the heartbeat that is missing, up to 30 s later.
  { timeout: 540_000 + rounds * 2 * 60_000 },
  async ({ onTestFailed }) => {
    let progress = "the first backups";
    onTestFailed(
      () =>
        void process.stderr.write(
          `It had come to ${progress}. The service said:\n${service.output()}\n`,
        ),
    );
    const ids = new Map<Kind, number>();
    for (const kind of kinds) {
      await targets[kind].write("v0");
      ids.set(kind, await install(kind));
    }
    const all = [...ids.values()];
    // How long one takes here beside the others, so that the kills fall into all its parts.
    const usualMs = new Map<Kind, number>();
    const measure = async (kind: Kind, id: number) => {
      const startedMs = performance.now();
      await service.call("POST", `/api/backup/${id}`);
      await settled([id]);
      usualMs.set(kind, performance.now() - startedMs);
    };
    await Promise.all([...ids].map(([kind, id]) => measure(kind, id)));

    for (let round = 0; round < 2 * rounds; round++) {
      progress = `round ${round}`;
      const isRestore = round % 2 === 1;
      const hits: Hit[] = [];
      for (const [kind, id] of ids) {
        const good = (await show(id)).backups.find(({ status }) => status === "finished");
        if (good === undefined)
          throw new Error(`${progress}: there is no good backup of ${kind} any more.`);
        if (isRestore) await targets[kind].write(`v${round + 1}`);
        const before = await targets[kind].read();
        // A restore makes a safety backup, and verifies what it restores.
        const afterMs = random() * (usualMs.get(kind) ?? 0) * (isRestore ? 3 : 1.1);
        hits.push({ kind, id, good: good.id, before, afterMs });
      }
      // One kill for all of them, and each is hit at a moment of its own.
      const killMs = Math.max(...hits.map(({ afterMs }) => afterMs));
      await Promise.all(
        hits.map(async ({ kind, id, good, afterMs }) => {
          await wait(killMs - afterMs);
          const asked = isRestore
            ? await service.call("PUT", `/api/backup/${good}`)
            : await service.call("POST", `/api/backup/${id}`);
          expect(asked.status, `${progress}, ${kind}`).toBe(202);
          await wait(afterMs);
        }),
      );
      await service.end("SIGKILL");
      await start();
      const backups = await settled(all);
      await expectHonestStorage(all, backups);
      for (const { kind, good, before } of hits) {
        const now = await targets[kind].read();
        if (isRestore) {
          const { restore_status } = await get<Backup>(`/api/backup/${good}`);
          // The backup may be of an earlier version than the newest; what it holds was whole then.
          expect(now, `${progress}: old or new`).toMatch(
            new RegExp(`^v\\d+ ${targets[kind].whole}$`),
          );
          if (restore_status === "finished") expect(now, progress).not.toBe(before);
        } else expect(now, `${progress}: a run changes nothing`).toBe(before);
      }
    }
    progress = "the last backups";
    // The next run on a remote server takes away what an earlier one could not.
    await Promise.all([...ids].map(([kind, id]) => measure(kind, id)));
    expect((await readdir(folder)).filter((name) => name.includes("quarterdeck-"))).toEqual([]);
    expect(await readdir(join(folder, "scratch"))).toEqual([]);
    const left = await mariadb.query(null, "show databases like '%quarterdeck%'");
    expect(left).toBe("");
    const databases = await postgres?.query("postgres", "select datname from pg_database");
    expect(JSON.stringify(databases ?? [])).not.toContain("quarterdeck");
  },
);
