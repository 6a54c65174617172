// Tests adoption of a storage with backups of an earlier installation.
import { execFileSync } from "node:child_process";
import { mkdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Activity } from "../../../contract/activity.ts";
import type { Adoption } from "../../../contract/backups/adoption.ts";
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import type { Overview } from "../../../contract/overview.ts";
import type { Page } from "../../../contract/paging.ts";
import { markerName } from "../../storage/marker.ts";
import { copyStorage, storedFilesIn } from "../../storage/testing/stored-files.ts";
import { isLongForm } from "../../testing/long-form.ts";
import { ownUser } from "../../testing/own-user.ts";
import { manifestKeyOf } from "../stored-file.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../testing/postgres-server.ts";

/** The provider of the fresh installation whose folder has the backups. */
const old = 7;
/** A second provider with the same folder. */
const again = 8;
/** Providers whose folders are inside of it, and around it. */
const inner = 9;
const around = 10;
const path = `/api/inventory/storage-providers/${old}/adoption`;
const dayMs = 24 * 3600 * 1000;

const adoptIn = async (service: BackupTestService, at = path): Promise<Adoption> => {
  const { status, body } = await service.json<Adoption>("POST", at);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const previewIn = async (service: BackupTestService, at = path): Promise<Adoption> => {
  const { status, body } = await service.json<Adoption>("GET", at);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const configurationsIn = async (service: BackupTestService, server = 1) =>
  (await service.json<Page<BackupConfiguration>>("GET", `/api/server/${server}/backups`)).body.data;
const isInstalled = (service: BackupTestService, id: number) =>
  soon(async () => {
    const found = await service.show(id);
    expect(found.status, found.status_reason ?? "").toBe("installed");
    return found;
  });

type Manifest = Record<string, unknown> & { name: string; size: number };
type FileChange = { size?: number; sha256?: string; [field: string]: unknown };

/** Writes one stored file with its manifest, as an installation would. */
async function plant(
  folder: string,
  key: string,
  { source = {}, ...change }: FileChange & { source?: object } = {},
): Promise<void> {
  const file = join(folder, key);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, "content");
  const manifest: Manifest = {
    format: "quarterdeck-backup",
    version: 1,
    name: key.split("/").at(-1) ?? "",
    size: 7,
    sha256: "0".repeat(64),
    compression: "zstd",
    uncompressed_size: 70,
    source: {
      type: "database",
      engine: "sqlite",
      id: 1,
      name: "orders",
      path: "/srv/orders.sqlite",
      server: { id: 1, name: "here" },
      ...source,
    },
    configuration: { id: 4, name: "Nightly" },
    backup: { id: 12, trigger: "schedule" },
    started_at: "2026-01-02T03:00:00.000Z",
    stored_at: "2026-01-02T03:00:05.000Z",
    tools: { sqlite: "3.51" },
    quarterdeck: "0.1.0",
    counts: { kind: "database", tables: { orders: 2 } },
    restore: [],
    ...change,
  };
  await writeFile(manifestKeyOf(file), JSON.stringify(manifest));
}

let postgres: PostgresServer | null = null;
const secrets: Record<string, string> = {};
const databases = () => "  - { id: 4, server: 1, name: shop, engine: postgres, url: env:SHOP }";
/** The fresh installation, and its folder for those backups. */
let service: BackupTestService;
let folder: string;
beforeAll(async () => {
  postgres = hasPostgresServer ? await startPostgresServer() : null;
  await postgres?.createDatabase("shop");
  secrets["SHOP"] = postgres?.url("shop") ?? "";
  service = await createBackupTestService(
    { secrets },
    {
      databases,
      providers: (at) => `  - { id: ${old}, name: old disk, type: local, path: ${at}/old }
  - { id: ${again}, name: same disk, type: local, server: 1, path: ${at}/./old/ }
  - { id: ${inner}, name: inner, type: local, path: ${at}/old/inner }
  - { id: ${around}, name: around, type: local, path: ${at} }`,
    },
  );
  folder = join(service.folder, "old");
  await mkdir(folder);
});
afterAll(async () => {
  await service?.close();
  await postgres?.stop();
});

describe.skipIf(!hasPostgresServer)("in the next installation", () => {
  let first: BackupTestService;
  let second: BackupTestService;
  beforeAll(async () => {
    first = await createBackupTestService({ secrets }, { databases });
    second = service;
  });
  afterAll(() => first?.close());

  const rows = () => postgres?.query("shop", "select * from goods order by id");
  const states = (those: Backup[]) => those.map(({ trigger, status }) => `${trigger} ${status}`);

  test("backups are listed, restored, and kept by retention", async () => {
    await postgres?.query(
      "shop",
      "create table goods (id int primary key, name text); insert into goods values (1, 'tea'), (2, 'rum')",
    );
    const before = await rows();
    const orders = first.sql("select * from orders order by id");
    const shop = await first.installed({ name: "Shop", backupable_id: 4 });
    const ordersBackup = await first.installed({ name: "Orders", directory: "sub/orders" });
    for (const { id } of [shop, ordersBackup, shop])
      expect((await first.run(id)).status).toBe("finished");
    // The restore leaves a safety backup.
    await first.call("PUT", `/api/backup/${(await first.show(ordersBackup.id)).last_backup?.id}`);
    await first.restored((await first.show(ordersBackup.id)).backups.at(-1)?.id ?? 0, "finished");
    await soon(async () => expect(await first.files()).toHaveLength(4));
    await copyStorage(join(first.folder, "copies"), folder);

    const preview = await previewIn(second);
    expect(preview).toMatchObject({ adopted: 0, known: 0, left_out: [], unread: 0 });
    expect(preview.sources).toMatchObject([
      { name: "orders", engine: "sqlite", server: "here", backups: 2, configuration_id: null },
      { name: "shop", engine: "postgres", target: { id: 4, server: "here" }, backups: 2 },
    ]);
    expect(await configurationsIn(second)).toEqual([]);

    const adopted = await adoptIn(second);
    expect(adopted).toMatchObject({ adopted: 4, known: 0, left_out_total: 0 });
    const configurations = await configurationsIn(second);
    const ofShop = configurations.find(({ name }) => name === "shop (adopted)");
    const ofOrders = configurations.find(({ name }) => name === "orders (adopted)");
    if (ofShop === undefined || ofOrders === undefined) throw new Error("Two were made.");
    expect(adopted.sources.map(({ configuration_id: id }) => id)).toEqual([ofOrders.id, ofShop.id]);
    const listed = await isInstalled(second, ofShop.id);
    expect(listed).toMatchObject({
      name: "shop (adopted)",
      schedule_words: "No schedule",
      next_run_at: null,
      hold: 8760,
      backupable: { id: 4 },
    });
    expect(listed.adopted_at).not.toBeNull();
    expect(states(listed.backups)).toEqual(["adopted finished", "adopted finished"]);
    const [newest, oldest] = listed.backups;
    expect(newest?.started_at.localeCompare(oldest?.started_at ?? "")).toBe(1);
    expect(newest?.output).toMatch(/Adopted from .*old, as the manifest.*\nMade by Quarterdeck/);
    const { body: activity } = await second.json<Activity>("GET", "/api/activity");
    const recorded = activity.data.filter(({ action }) => action === "adopted");
    expect(recorded).toHaveLength(2);
    expect(recorded.find(({ object: { id } }) => id === ofShop.id)).toMatchObject({
      actor: { type: "token" },
      object: { type: "backup-configuration", name: "shop (adopted)" },
      detail: `2 backups from old disk (${folder})`,
    });
    // A configuration that runs no backups protects nothing.
    const { body: overview } = await second.json<Overview>("GET", "/api/overview");
    expect(JSON.stringify(overview.protection)).toContain("No backup configured.");

    await postgres?.query("shop", "drop table goods");
    await second.call("PUT", `/api/backup/${newest?.id}`);
    await second.restored(newest?.id ?? 0, "finished");
    expect(await rows()).toEqual(before);
    second.sql("delete from orders");
    const kept = (await isInstalled(second, ofOrders.id)).backups;
    await second.call("PUT", `/api/backup/${kept[0]?.id}`);
    await second.restored(kept[0]?.id ?? 0, "finished");
    expect(second.sql("select * from orders order by id")).toEqual(orders);
    await second.call("POST", `/api/backup/${newest?.id}/drill`);
    await soon(async () => {
      const drilled = await second.backup(newest?.id ?? 0);
      expect(drilled.drill_status, drilled.drill_output ?? "").toBe("finished");
    });

    // Sets a small hold, which earlier versions may have stored.
    await second.query("update backup_configurations set hold = 1");
    // Neither a run nor the passing of time removes any of them.
    const stored = await storedFilesIn(folder);
    for (const { id } of [ofShop, ofOrders]) await second.run(id);
    await second.ahead(9 * dayMs);
    // A new configuration makes the scheduler check all schedules.
    await second.installed({ backupable_type: "site" });
    await second.run(ofShop.id);
    const safety = "select id from backups where trigger = 'safety'";
    await soon(async () => expect(await second.query(safety)).toEqual([]));
    expect(await storedFilesIn(folder)).toEqual(
      expect.arrayContaining(stored.filter((key) => kept.some(({ path: own }) => own === key))),
    );
    for (const id of [newest?.id, oldest?.id, ...kept.map((one) => one.id)])
      expect(await second.backup(id ?? 0)).toMatchObject({ status: "finished", damage: null });

    // Once it has settings, the configuration is like any other.
    const body = { name: "Shop", frequency: "0 4 * * *", storage_provider_id: 1, hold: 2 };
    await second.call("PUT", `/api/backup-configuration/${ofShop.id}`, body);
    const own = await isInstalled(second, ofShop.id);
    expect(own).toMatchObject({ adopted_at: null, schedule_words: "At 04:00, every day" });
    expect(own.next_run_at).not.toBeNull();
    await second.run(ofShop.id);
    await second.becomesGone(`/api/backup/${oldest?.id}`);
  }, 180_000);
});

describe("a storage", () => {
  beforeEach(async () => {
    await service.clear();
    // The previous test may still cause a recovery page to be written there.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    await mkdir(folder);
    // An adopted storage has a marker, without which it counts as unavailable.
    await service.query("update storage_providers set marked_path = null");
  });
  const paths = async () =>
    (await service.query<{ path: string }>("select path from backups order by id")).map(
      (row) => row.path,
    );

  test("adds nothing the second time, nor under another name of the same location", async () => {
    await plant(folder, "a/4/12-20260102T030000Z-0.sqlite.zst");
    expect(await adoptIn(service)).toMatchObject({ adopted: 1, known: 0 });
    for (const at of [path, `/api/inventory/storage-providers/${again}/adoption`])
      expect(await adoptIn(service, at)).toMatchObject({ adopted: 0, known: 1, sources: [] });
    expect(await configurationsIn(service)).toHaveLength(1);
    // A backup that was deleted only from the list can be adopted again.
    const [configuration] = await configurationsIn(service);
    await isInstalled(service, configuration?.id ?? 0);
    await service.call("DELETE", `/api/backup-configuration/${configuration?.id}`);
    expect(await previewIn(service)).toMatchObject({ known: 0, sources: [{ backups: 1 }] });
  });

  test("adds nothing that is listed in a storage inside of it or around it", async () => {
    await plant(folder, "inner/a/4/12-20260102T030000Z-0.sqlite.zst");
    const { id } = await service.installed({});
    expect((await service.run(id)).status).toBe("finished");
    const at = (provider: number) => `/api/inventory/storage-providers/${provider}/adoption`;
    expect(await adoptIn(service, at(inner))).toMatchObject({ adopted: 1, known: 0 });
    expect(await adoptIn(service)).toMatchObject({ adopted: 0, known: 1 });
    // The backup of the run is in another folder of this storage.
    expect(await adoptIn(service, at(around))).toMatchObject({ adopted: 0, known: 2 });
    await plant(folder, "inner-too/a/4/13-20260102T030000Z-0.sqlite.zst");
    expect(await adoptIn(service, at(around))).toMatchObject({ adopted: 1, known: 2 });
    expect(await adoptIn(service)).toMatchObject({ adopted: 0, known: 2 });
    expect(await adoptIn(service, at(inner))).toMatchObject({ adopted: 0, known: 1 });
  });

  test("adds each backup once, however many requests adopt it at once", async () => {
    // More backups of each source than one statement lists.
    const keys = Array.from(
      { length: 410 },
      (_, n) => `a/4/${n}-202601${String((n % 28) + 1).padStart(2, "0")}T030000Z-0.sqlite.zst`,
    );
    for (const [n, key] of keys.entries())
      await plant(folder, key, { source: { name: n % 2 === 0 ? "orders" : "gone" } });
    const results = await Promise.all(
      Array.from({ length: isLongForm ? 4 : 2 }, () => adoptIn(service)),
    );
    expect(results.reduce((sum, { adopted }) => sum + adopted, 0)).toBe(410);
    for (const { adopted, known } of results) expect(adopted + known).toBe(410);
    expect((await paths()).toSorted()).toEqual(keys.toSorted());
    expect((await configurationsIn(service)).map(({ name }) => name).toSorted()).toEqual([
      "gone (adopted)",
      "orders (adopted)",
    ]);
  });

  test("lists backups that are older than its own separately", async () => {
    const day = (n: number) => ({
      started_at: `2026-01-0${n}T03:00:00.000Z`,
      stored_at: `2026-01-0${n}T03:00:05.000Z`,
    });
    for (const n of [4, 3]) await plant(folder, `a/4/${n}.sqlite.zst`, day(n));
    await adoptIn(service);
    await plant(folder, "a/4/5.sqlite.zst", day(5));
    await adoptIn(service);
    expect(await paths()).toEqual([3, 4, 5].map((n) => `a/4/${n}.sqlite.zst`));
    await plant(folder, "a/4/1.sqlite.zst", day(1));
    await adoptIn(service);
    const found = (await configurationsIn(service)).map(({ name, backups }) => [
      name,
      backups.length,
    ]);
    expect(found).toEqual([
      ["orders (adopted 2)", 1],
      ["orders (adopted)", 3],
    ]);
  });

  test("reports what the inventory lacks, and adopts it once it is added", async () => {
    await plant(folder, "a/4/12-20260102T030000Z-0.sqlite.zst", { source: { name: "stock" } });
    const seen = await adoptIn(service);
    expect(seen).toMatchObject({ adopted: 0, sources_total: 1 });
    expect(seen.sources).toMatchObject([
      {
        name: "stock",
        target: null,
        configuration_id: null,
        backups: 1,
        size: 7,
        newest_at: "2026-01-02T03:00:00.000000Z",
        problem:
          "The inventory has no SQLite database “stock” on server “here”. Add it, then adopt again.",
        files: [{ path: "a/4/12-20260102T030000Z-0.sqlite.zst", size: 7 }],
      },
    ]);
    expect(await configurationsIn(service)).toEqual([]);
    const entry = {
      server: 1,
      name: "stock",
      engine: "sqlite",
      path: join(service.folder, "stock.sqlite"),
      user: ownUser,
    };
    const { body: inventory } = await service.json<{ version: string }>("GET", "/api/inventory");
    const made = await service.json(
      "POST",
      `/api/inventory/databases?version=${inventory.version}`,
      entry,
    );
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    expect(await adoptIn(service)).toMatchObject({ adopted: 1, sources: [{ name: "stock" }] });
  });

  test("shows what its backups of a site excluded, and restores leave that unchanged", async () => {
    const { id } = await service.installed({ backupable_type: "site", exclude: ["uploads/"] });
    await service.run(id);
    await service.call("DELETE", `/api/backup-configuration/${id}`);
    await adoptIn(service, "/api/inventory/storage-providers/1/adoption");
    const [configuration] = await configurationsIn(service);
    const [adopted] = (await isInstalled(service, configuration?.id ?? 0)).backups;
    expect(await service.backup(adopted?.id ?? 0)).toMatchObject({
      trigger: "adopted",
      excluded: { patterns: ["uploads/"], caches: false },
    });
    const uploads = join(service.folder, "shop/uploads");
    await mkdir(uploads);
    await writeFile(join(uploads, "photo.jpg"), "a photo");
    await service.call("PUT", `/api/backup/${adopted?.id}`, { skip_safety_backup: true });
    await service.restored(adopted?.id ?? 0, "finished");
    expect(await readFile(join(uploads, "photo.jpg"), "utf8")).toBe("a photo");

    // Adopted as by earlier versions.
    await service.query("update backups set manifest = manifest - 'excluded' where id = $1", [
      adopted?.id,
    ]);
    const [stored = ""] = await service.files();
    const manifest = join(service.folder, "copies", manifestKeyOf(stored));
    await rename(manifest, `${manifest}.away`);
    await service.call("PUT", `/api/backup/${adopted?.id}`);
    const refused = await service.restored(adopted?.id ?? 0, "failed");
    expect(refused.restore_output).toMatch(/only it says what the backup left out/);
    expect(await readFile(join(uploads, "photo.jpg"), "utf8")).toBe("a photo");
    await rename(`${manifest}.away`, manifest);
    await service.call("PUT", `/api/backup/${adopted?.id}`);
    await service.restored(adopted?.id ?? 0, "finished");
    expect(await readFile(join(uploads, "photo.jpg"), "utf8")).toBe("a photo");
    expect(await service.backup(adopted?.id ?? 0)).toMatchObject({
      excluded: { patterns: ["uploads/"] },
    });
    await rm(uploads, { recursive: true });
  });

  test("verifies the newest adopted backup soon, and detects its damage", async () => {
    await plant(folder, "a/4/12-20260102T030000Z-0.sqlite.zst");
    // The next check of all schedules is due then.
    await service.ahead(60_000);
    await adoptIn(service);
    const [{ id } = { id: 0 }] = await configurationsIn(service);
    await soon(async () =>
      expect((await service.show(id)).last_backup?.damage).toMatch(/Checksum mismatch/),
    );
  });

  test("refuses a read-only token, a token limited to one server, and an unavailable storage with a message", async () => {
    const tokenOf = async (body: object) =>
      (await service.json<{ token: string }>("POST", "/api/tokens", { name: "t", ...body })).body
        .token;
    await plant(folder, "a/4/12-20260102T030000Z-0.sqlite.zst");
    const missing = path.replace(String(old), "99");
    for (const body of [{ abilities: ["read"] }, { abilities: ["*"], server_ids: [1] }]) {
      const token = await tokenOf(body);
      for (const method of ["GET", "POST"])
        expect((await service.call(method, path, undefined, token)).status).toBe(403);
    }
    for (const method of ["GET", "POST"]) expect(await service.statusOf(method, missing)).toBe(404);
    expect(await paths()).toEqual([]);
    await rm(folder, { recursive: true });
    for (const method of ["GET", "POST"])
      expect(await service.messageOf(method, path)).toMatch(/old is not there/);
  });

  test("rejects files of another writer that are inconsistent, and says why", async () => {
    const at = (n: number, extension = "sqlite") => `a/4/${n}-20260102T030000Z-0.${extension}.zst`;
    const manifest = (key: string) => join(folder, manifestKeyOf(key));
    await plant(folder, at(1), { name: "../../../etc/passwd" });
    await plant(folder, at(2), { size: 8 });
    await plant(folder, at(3));
    await rm(join(folder, at(3)));
    await plant(folder, at(4));
    await writeFile(manifest(at(4)), "{");
    await plant(folder, at(5));
    await truncate(manifest(at(5)), 17 * 1024 * 1024);
    await plant(folder, at(6), { version: 3 });
    await plant(folder, at(7), {
      started_at: "2126-01-01T00:00:00Z",
      stored_at: "2126-01-01T00:00:01Z",
    });
    await plant(folder, at(8), { started_at: "0000-01-01T00:00:00Z" });
    await plant(folder, at(9, "dump"));
    await plant(folder, at(10), { source: { engine: "folder" } });
    await plant(folder, at(11), { source: { name: "or\nders" } });
    await plant(folder, at(12), { counts: { kind: "database", tables: { orders: "many" } } });
    await plant(folder, "a/4/13\n-20260102T030000Z-0.sqlite.zst");
    await plant(folder, "a/4/\u202e14-20260102T030000Z-0.sqlite.zst");
    await plant(folder, at(15));
    await rm(manifest(at(15)));
    execFileSync("mkfifo", [manifest(at(15))]);
    await plant(folder, at(16));
    await rename(manifest(at(16)), join(service.folder, "elsewhere.json"));
    await symlink(join(service.folder, "elsewhere.json"), manifest(at(16)));
    await symlink("/etc", join(folder, "etc"));
    await plant(folder, at(17), { format: "something else" });
    await plant(folder, at(18, "tar"), { format: "quarterdeck-self-backup", version: 1 });
    await writeFile(join(folder, "a/4/19.sqlite.zst.partial"), "");
    await writeFile(join(folder, markerName), "");
    // A valid one.
    await plant(folder, at(20), { later: "a field of a later version" });

    const found = await adoptIn(service);
    expect(await paths()).toEqual([at(20)]);
    expect(found).toMatchObject({ adopted: 1, known: 0, unread: 0, self_backups: 1 });
    const reasons = Object.fromEntries(
      found.left_out.map((one) => [/(\d+)\s?-2026/.exec(one.path)?.[1], one.reason]),
    );
    expect(reasons).toEqual({
      1: "The manifest beside it is that of ../../../etc/passwd.",
      2: "The file is damaged: it has 7 bytes instead of 8.",
      3: "The file is missing: there is only its manifest.",
      4: "Its manifest is damaged, or not one of Quarterdeck's.",
      5: "Its manifest is larger than 16 MiB.",
      6: "Its manifest was written by a newer version of Quarterdeck. Update this one first.",
      7: "Its manifest gives a time that can't be right.",
      8: expect.stringMatching(/time that can't be right|is damaged/),
      9: "Its name doesn't fit its manifest, which says that it is of sqlite.",
      10: "Its manifest contradicts itself.",
      11: "Its manifest is damaged, or not one of Quarterdeck's.",
      12: "Its manifest is damaged, or not one of Quarterdeck's.",
      13: "Its name has control characters, or is too long.",
      14: "Its name has control characters, or is too long.",
      15: expect.stringMatching(/^It has no manifest/),
      16: expect.stringMatching(/^It has no manifest/),
      17: "Its manifest is damaged, or not one of Quarterdeck's.",
    });
    expect(found.left_out_total).toBe(17);
    expect(await readFile(join(folder, at(1)), "utf8")).toBe("content");
  });
});
