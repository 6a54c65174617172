// The service is killed at random moments of runs and restores. What is listed as finished must be whole, what is not
// must be gone, and a target must be the old or the new one.
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { administer, databaseUrl } from "../testing/service.ts";
import { startService, type ServiceProcess } from "../testing/service-process.ts";
import { nightly } from "./testing/backup-service.ts";

/** Enough to meet most moments; `CRASH_ROUNDS=30` for all that chance can find in some minutes. */
const rounds = Number(process.env["CRASH_ROUNDS"] ?? 8);
const seed = makeSeed();
const random = makeRandom(seed);
const database = `test_${randomBytes(6).toString("hex")}`;

let folder: string;
let service: ServiceProcess;

const start = async () => {
  service = await startService(folder, { DATABASE_URL: databaseUrl(database) });
};

beforeAll(async () => {
  await administer(`create database ${database}`);
  folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-crash-")));
  await mkdir(join(folder, "shop"));
  await mkdir(join(folder, "copies"));
  await writeFile(
    join(folder, "inventory.yaml"),
    `
servers:
  - { id: 1, name: here, connection: local }
sites:
  - { id: 1, server: 1, name: shop, root: ${folder}/shop }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/orders.sqlite }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
`,
  );
  await start();
});
afterAll(async () => {
  await service.end("SIGINT");
  await administer(`drop database ${database} with (force)`);
  await rm(folder, { recursive: true, force: true });
});

const get = async <Body>(path: string): Promise<Body> =>
  (await (await service.call("GET", path)).json()) as Body;
const show = (id: number) => get<BackupConfiguration>(`/api/backup-configuration/${id}`);

/** Two things that can be backed up; each has a content that tells its version. */
const targets = {
  database: {
    write(version: string) {
      const connection = new DatabaseSync(join(folder, "orders.sqlite"));
      connection.exec(`
        create table if not exists orders (id integer primary key, version text, filler blob);
        begin; delete from orders;
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)
        insert into orders select i, '${version}', randomblob(1000) from n; commit;`);
      connection.close();
    },
    read(): string {
      const connection = new DatabaseSync(join(folder, "orders.sqlite"));
      const [whole] = connection.prepare("pragma integrity_check").all();
      const rows = connection
        .prepare("select version, count(*) as n from orders group by version")
        .all() as { version: string; n: number }[];
      connection.close();
      return `${String(Object.values(whole ?? {})[0])} ${rows.map(({ version, n }) => `${version} ${n}`).join()}`;
    },
    whole: (version: string) => `ok ${version} 6000`,
  },
  site: {
    async write(version: string) {
      for (let count = 0; count < 60; count++)
        await writeFile(
          join(folder, `shop/${count}`),
          `${version} ${randomBytes(50_000).toString("hex")}`,
        );
    },
    async read(): Promise<string> {
      const names = await readdir(join(folder, "shop"));
      const versions = new Set<string>();
      for (const name of names)
        versions.add((await readFile(join(folder, "shop", name), "utf8")).split(" ")[0] ?? "");
      return `${[...versions].join()} ${names.length}`;
    },
    whole: (version: string) => `${version} 60`,
  },
};
type Kind = keyof typeof targets;

/** Nothing is under way any more. @returns all backups of all configurations */
async function settled(ids: number[]): Promise<Backup[]> {
  return vi.waitFor(
    async () => {
      const backups = (await Promise.all(ids.map(show))).flatMap((one) => one.backups);
      for (const { id, status, restore_status, output } of backups) {
        expect(["finished", "failed"], `backup ${id}: ${output}`).toContain(status);
        expect(restore_status, `restore of ${id}`).not.toBe("running");
      }
      return backups;
    },
    { timeout: 30_000, interval: 50 },
  );
}

/** The storage holds exactly what is listed as finished, byte for byte. */
async function expectHonestStorage(ids: number[], backups: readonly Backup[]): Promise<void> {
  const finished = backups.filter(({ status }) => status === "finished");
  await vi.waitFor(
    async () => {
      const entries = await readdir(join(folder, "copies"), {
        recursive: true,
        withFileTypes: true,
      });
      const files = entries.filter((entry) => entry.isFile());
      expect(files.map(({ name }) => name).sort()).toEqual(
        finished.map(({ path }) => path.split("/").at(-1) ?? "").sort(),
      );
    },
    { timeout: 15_000, interval: 50 },
  );
  for (const { path, checksum } of finished) {
    const file = await readFile(join(folder, "copies", path));
    expect(createHash("sha256").update(file).digest("hex"), path).toBe(checksum);
  }
  expect(ids.length).toBeGreaterThan(0);
}

async function install(kind: Kind): Promise<number> {
  const response = await service.call("POST", "/api/server/1/backup-configuration", {
    ...nightly,
    name: kind,
    hold: 3,
    backupable_type: kind,
  });
  const { id } = (await response.json()) as BackupConfiguration;
  await vi.waitFor(async () => expect((await show(id)).status).toBe("installed"), 20_000);
  return id;
}

test(
  `over ${rounds} kills in runs and as many in restores nothing is lost, halved or left behind (CRASH_SEED=${seed})`,
  { timeout: 400_000 },
  async () => {
    targets.database.write("v0");
    await targets.site.write("v0");
    const ids = { database: await install("database"), site: await install("site") };
    const all = Object.values(ids);
    for (const id of all) await service.call("POST", `/api/backup/${id}`);
    await settled(all);
    // How long one takes here, so that the kills fall into all its parts.
    let usualMs = 150;

    for (let round = 0; round < 2 * rounds; round++) {
      const kind: Kind = round % 4 < 2 ? "database" : "site";
      const target = targets[kind];
      const good = (await show(ids[kind])).backups.find(({ status }) => status === "finished");
      if (good === undefined) throw new Error("There is no good backup any more.");
      const isRestore = round % 2 === 1;
      const version = `v${round + 1}`;
      const before = await target.read();
      if (isRestore) await target.write(version);
      const startedMs = performance.now();
      const asked = isRestore
        ? await service.call("PUT", `/api/backup/${good.id}`)
        : await service.call("POST", `/api/backup/${ids[kind]}`);
      expect(asked.status).toBe(202);
      await wait(random() * usualMs * (isRestore ? 3 : 1.3));
      await service.end("SIGKILL");
      const killedMs = performance.now() - startedMs;
      await start();
      const backups = await settled(all);
      await expectHonestStorage(all, backups);
      const now = await target.read();
      if (isRestore) {
        // The backup may be of an earlier version than the newest; what it holds was whole then.
        const { restore_status } = await get<Backup>(`/api/backup/${good.id}`);
        expect(now, `round ${round}: old or new`).toMatch(/^(ok )?v\d+ (60|6000)$/);
        if (restore_status === "finished") expect(now, `round ${round}`).not.toContain(version);
        expect(now.replace(/v\d+/, "v")).toBe(target.whole("v"));
      } else expect(now, `round ${round}: a run changes nothing`).toBe(before);
      usualMs = Math.max(60, Math.min(usualMs, killedMs * 2));
    }
    expect((await readdir(folder)).filter((name) => name.includes("quarterdeck-"))).toEqual([]);
    expect(await readdir(join(folder, "scratch"))).toEqual([]);
  },
);
