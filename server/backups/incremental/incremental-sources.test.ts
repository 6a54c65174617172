// Tests incremental backups of each kind of source, in different storages, plain and encrypted.
import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup } from "../../../contract/backups/backup.ts";
import { inLongForm, isLongForm } from "../../testing/long-form.ts";
import { createRemoteServer } from "../../ssh/testing/remote-server.ts";
import { startS3, type Gate } from "../../storage/testing/s3.ts";
import { ownUser } from "../../testing/own-user.ts";
import { manifestKeyOf } from "../stored-file.ts";
import { anyTimes } from "../testing/any-times.ts";
import { createBackupTestService, type BackupTestService } from "../testing/backup-service.ts";
import { startMariadbServer, type MariadbServer } from "../testing/mariadb-server.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../testing/postgres-server.ts";

const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const stored = { local: 1, s3: 3, sealed: 4, sealedS3: 5, unread: 6 };
const second = 7;
const hooked = 10;

/** Kinds that share their code path with others: all dumps, and all folders. */
const alike = new Set(["PostgreSQL", "MariaDB", "folder over SSH"]);

const execute = promisify(execFile);
const isThere = (program: string) => spawnSync(program, ["--version"]).error === undefined;

describe.skipIf(!["zstd", "age", "sqlite3"].every(isThere))("each kind of source", () => {
  const remote = createRemoteServer();
  let gate: Gate;
  let buckets: string;
  let mariadb: MariadbServer | null;
  let postgres: PostgresServer | null;
  let service: BackupTestService;
  beforeAll(async () => {
    buckets = await mkdtemp(join(tmpdir(), "quarterdeck-incremental-"));
    [gate, mariadb, postgres] = await Promise.all([
      startS3(buckets),
      isLongForm ? startMariadbServer() : null,
      isLongForm && hasPostgresServer ? startPostgresServer() : null,
    ]);
    await mariadb?.createDatabase("shop");
    await mariadb?.query(
      "shop",
      "create table orders as select seq as id, sha2(seq, 512) as customer from seq_1_to_2000",
    );
    await postgres?.createDatabase("shop");
    await postgres?.query(
      "shop",
      "create table orders as select i as id, encode(sha512(i::text::bytea), 'hex') as customer from generate_series(1, 2000) i; create view shown as table orders",
    );
    const connection = isLongForm ? await remote.connection() : "local";
    const bucket = `type: s3, bucket: copies, endpoint: "${gate.options.endpoint}", access_key: env:S3_KEY, secret_key: env:S3_KEY`;
    const sealed = `recipients: [${recipient}], drill_identity: env:DRILL`;
    service = await createBackupTestService(
      {
        fileTimes: anyTimes,
        secrets: {
          POSTGRES: postgres?.url("shop") ?? "",
          MARIADB: mariadb?.url("shop") ?? "",
          S3_KEY: gate.options.accessKey,
          DRILL: identity,
        },
      },
      {
        servers: `  - { id: 3, name: far, connection: ${connection} }`,
        sites: (folder) =>
          `  - { id: 9, server: 3, name: far, root: ${folder}/far, user: ${ownUser} }
  - { id: ${hooked}, server: 1, name: hooked, root: ${folder}/hooked, user: ${ownUser}, backup_hooks: { before: [sh, ../before.sh] } }`,
        databases: () => `  - { id: 4, server: 1, name: pg, engine: postgres, url: env:POSTGRES }
  - { id: 5, server: 1, name: maria, engine: mysql, url: env:MARIADB }`,
        providers: (folder) => `  - { id: ${stored.s3}, name: bucket, ${bucket} }
  - { id: ${stored.sealed}, name: sealed, type: local, path: ${folder}/copies, ${sealed} }
  - { id: ${stored.sealedS3}, name: sealed bucket, ${bucket}, ${sealed} }
  - { id: ${stored.unread}, name: unread, type: local, path: ${folder}/copies, recipients: [${recipient}] }
  - { id: ${second}, name: second, type: local, path: ${folder}/second }`,
      },
    );
    service.sql("update orders set customer = hex(randomblob(100000))");
    for (const name of ["far", "hooked", "second"]) await mkdir(join(service.folder, name));
    for (const site of ["shop", "far", "hooked"])
      await writeFile(
        join(service.folder, site, "words"),
        Array.from({ length: 20_000 }, (_, index) => (index * 7919) % 10_007).join(" "),
      );
  });
  afterAll(async () => {
    await service?.close();
    await Promise.all([gate?.close(), mariadb?.stop(), postgres?.stop()]);
    await rm(buckets, { recursive: true, force: true });
  });

  const inSite = (site: string) => ({
    write: (word: string) => writeFile(join(service.folder, site, "index.php"), word),
    read: () => readFile(join(service.folder, site, "index.php"), "utf8"),
  });
  const sources = {
    PostgreSQL: {
      change: { backupable_id: 4 },
      write: (word: string) =>
        postgres?.query("shop", `update orders set customer = '${word}' where id = 7`),
      read: async () =>
        JSON.stringify(await postgres?.query("shop", "select customer from orders where id = 7")),
    },
    MariaDB: {
      change: { backupable_id: 5 },
      write: (word: string) =>
        mariadb?.query("shop", `update orders set customer = '${word}' where id = 7`),
      read: async () => await mariadb?.query("shop", "select customer from orders where id = 7"),
    },
    SQLite: {
      change: { backupable_id: 1 },
      write: async (word: string) =>
        void service.sql(`update orders set customer = '${word}' where id = 1`),
      read: async () => JSON.stringify(service.sql("select customer from orders where id = 1")),
    },
    folder: { change: { backupable_type: "site" }, ...inSite("shop") },
    "folder over SSH": {
      change: { server: 3, backupable_type: "site", backupable_id: 9 },
      ...inSite("far"),
    },
  };
  type Kind = keyof typeof sources;

  /** A part to restore of each kind, and an entry of its list of contents. */
  const parts: Partial<Record<Kind, { of: string; part: object; list?: string; listed?: string }>> =
    {
      PostgreSQL: {
        of: "database/4",
        part: { tables: ["public.orders"] },
        list: "objects",
        listed: "public.shown",
      },
      SQLite: { of: "database/1", part: { tables: ["orders"] } },
      folder: { of: "site/1", part: { path: "index.php" }, list: "files", listed: "index.php" },
    };

  /** Pairwise combinations of sources, storages and encryption. */
  const cases: [Kind, keyof typeof stored][] = [
    ["PostgreSQL", "s3"],
    ["MariaDB", "s3"],
    ["SQLite", "sealed"],
    ["folder", "sealedS3"],
    ["folder over SSH", "local"],
  ];
  const possible = cases.filter(
    ([kind]) => (hasPostgresServer || kind !== "PostgreSQL") && (isLongForm || !alike.has(kind)),
  );

  test.each(possible)("%s in %s: stores, drills and restores changes", async (kind, place) => {
    const { change, write, read } = sources[kind];
    const isSealed = place.startsWith("sealed");
    const { id } = await service.installed({
      ...change,
      storage_provider_id: stored[place],
      incremental: true,
    });
    const full = await service.run(id);
    expect(full, full.output).toMatchObject({ status: "finished", base_id: null });
    if (kind.startsWith("folder")) await service.drilled((await isReferredTo(full)).id);
    await write("changed");
    let patch = await service.run(id);
    expect(patch, patch.output).toMatchObject({ status: "finished", base_id: full.id });
    if (kind.startsWith("folder")) patch = await isStoredAgain(patch);
    expect(patch).toMatchObject({ encrypted: isSealed, plain_size: expect.any(Number) });
    expect(patch.size).toBeLessThan(full.size / 2);
    await service.drilled(patch.id);
    await write("lost");
    const body = isSealed ? { identity, skip_safety_backup: true } : { skip_safety_backup: true };
    await service.call("PUT", `/api/backup/${patch.id}`, body);
    await service.restored(patch.id, "finished");
    expect(await read()).toContain("changed");
    const its = parts[kind];
    if (its !== undefined) {
      await write("lost");
      const wanted = { backup_id: patch.id, ...its.part, ...body };
      expect(await service.statusOf("POST", `/api/${its.of}/restore`, wanted)).toBe(202);
      await service.restored(patch.id, "finished");
      expect(await read()).toContain("changed");
    }
    if (its?.list !== undefined) {
      const opening = isSealed ? { identity } : {};
      const list = await service.call("POST", `/api/backup/${patch.id}/${its.list}`, opening);
      expect(await list.text()).toContain(its.listed);
    }
    if (kind === "SQLite") await followManifest(join(service.folder, "copies", patch.path));
    expect(await read()).toContain("changed");
  });

  const nothingSince = ({ id, base_id: baseId }: Backup) =>
    `Nothing has changed since backup ${id}${baseId === null ? " (full)" : ""}, by the files' times`;

  /** @returns the next run after a full or a backup that refers to it, which must refer to it, too */
  async function isReferredTo(full: Backup): Promise<Backup> {
    const same = await service.run(full.configuration_id ?? 0);
    expect(same.output).toContain(nothingSince(full));
    const { id, plain_size } = full;
    expect(same).toMatchObject({ status: "finished", base_id: id, plain_size, warnings: [] });
    expect(same.size).toBeLessThan(1000);
    return same;
  }

  /** @returns the next run after a backup, which must have the same content */
  async function isStoredAgain(last: Backup): Promise<Backup> {
    const again = await service.run(last.configuration_id ?? 0);
    expect(again.output).toContain(nothingSince(last));
    const { base_id, size, plain_size, checksum } = last;
    expect(again).toMatchObject({ status: "finished", base_id, size, plain_size, checksum });
    expect(again.path).not.toBe(last.path);
    return again;
  }

  inLongForm(() => {
    test("reads a folder again if it has changed, changes meanwhile, or the backup to refer to is missing", async () => {
      const at = (path: string) => join(service.folder, path);
      const change = { backupable_type: "site", backupable_id: hooked };
      const copying = { incremental: true, copy_storage_provider_id: second };
      await writeFile(at("before.sh"), "");
      const { id } = await service.installed({ ...change, ...copying });
      const full = await service.run(id);
      const same = await isReferredTo(full);
      const again = await isReferredTo(full);
      const [copy] = (await service.backup(again.id)).copies ?? [];
      const { path } = await service.backup(copy?.id ?? 0);
      const whole = await readFile(at(`copies/${same.path}`));
      expect(await readFile(at(`second/${path}`))).toEqual(whole);
      const manifest = async (of: Backup) =>
        JSON.parse(await readFile(manifestKeyOf(at(`copies/${of.path}`)), "utf8"));
      const { counts } = await manifest(full);
      const { base } = await manifest(same);
      expect(await manifest(again)).toMatchObject({ version: 2, backup: { id: again.id }, base });
      expect((await manifest(again)).counts).toEqual(counts);

      // Changes by a hook are detected, and so are changes while the folder is read.
      await writeFile(at("before.sh"), "echo more >>index.php");
      const more = await service.run(id);
      expect(more.output).not.toContain("Nothing has changed");
      expect((await manifest(more)).counts.bytes).toBe(counts.bytes + "more\n".length);
      const stateOf = async ({ id: of }: Backup) =>
        (
          await service.query<{ source_state: string | null }>(
            `select source_state from backups where id = ${of}`,
          )
        )[0]?.source_state;
      expect(await stateOf(more)).toMatch(/^[0-9a-f]{64}$/);
      await writeFile(at("busy"), "");
      // Writes without a pause, because a busy machine would resume it late; it has started when the hook ends.
      await writeFile(
        at("before.sh"),
        "(while [ -e ../busy ]; do echo more >>log; done) >/dev/null 2>&1 & until [ -s log ]; do sleep 0.01; done",
      );
      expect(await stateOf(await service.run(id))).toBe(null);
      await rm(at("busy"));
      await writeFile(at("before.sh"), "");

      // A damaged stored file is not referred to. Retention would remove a damaged backup.
      const last = await service.run(id);
      for (const { id: one } of [full, last]) await service.call("PUT", `/api/backup/${one}/pin`);
      const content = await readFile(at(`copies/${last.path}`));
      await writeFile(at(`copies/${last.path}`), Buffer.alloc(content.length));
      const read = await service.run(id);
      expect(read.output).toMatch(
        new RegExp(`Couldn't use backup ${last.id}: Checksum mismatch: .* Reading everything\\.`),
      );
      expect(read).toMatchObject({ status: "finished", base_id: last.base_id });
      expect(await readFile(at(`copies/${read.path}`))).toEqual(content);
      expect((await service.backup(last.id)).damage).toMatch(/^Checksum mismatch/);
      await isStoredAgain(read);
      const isMissed = async (gone: Backup): Promise<Backup> => {
        await service.call("PUT", `/api/backup/${gone.id}/pin`);
        await rm(at(`copies/${gone.path}`));
        const next = await service.run(id);
        expect(next).toMatchObject({ status: "finished", base_id: null });
        expect((await service.backup(gone.id)).damage).toMatch(/is missing/);
        return next;
      };
      // By a backup with changes, and by one without.
      const next = await isMissed(full);
      await isReferredTo(next);
      await isMissed(next);
    });
  });

  /** Restores by hand, with Debian's programs only. */
  async function followManifest(file: string): Promise<void> {
    const cwd = dirname(file);
    const { restore } = JSON.parse(await readFile(manifestKeyOf(file), "utf8"));
    await writeFile(join(cwd, "identity.txt"), identity, { mode: 0o600 });
    await rm(join(service.folder, "orders.sqlite"));
    await execute("bash", ["-c", `set -e -o pipefail\n${restore.join("\n")}`], { cwd });
  }

  test("stores fulls if the last one cannot be read, and reports what is missing in the output", async () => {
    const { id } = await service.installed({
      storage_provider_id: stored.unread,
      incremental: true,
    });
    await service.run(id);
    const second = await service.run(id);
    expect(second).toMatchObject({ status: "finished", base_id: null, encrypted: true });
    expect(second.path).toMatch(/\.sqlite\.zst\.age$/);
    expect(second.output).toContain("the storage provider has no drill_identity");
  });
});
