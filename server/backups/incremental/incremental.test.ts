// Tests incremental backups: they are restored, verified, kept and deleted together with their full.
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Adoption } from "../../../contract/backups/adoption.ts";
import type { BackupSchedule } from "../../../contract/backups/backup.ts";
import { createLocalStorage } from "../../storage/local.ts";
import { makeRandom, makeSeed } from "../../testing/random.ts";
import { manifestKeyOf } from "../stored-file.ts";
import { verifyStorage } from "../verification/verify-storage.ts";
import {
  createBackupTestService,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";

const execute = promisify(execFile);
const isThere = (program: string) => spawnSync(program, ["--version"]).error === undefined;

describe.skipIf(!["zstd", "age", "sqlite3"].every(isThere))("changes since a full", () => {
  let service: BackupTestService;
  beforeAll(async () => {
    service = await createBackupTestService();
    service.sql("create table noise as select randomblob(300000) as noise");
  });
  afterAll(() => service?.close());

  const customers = () => service.sql("select customer from orders order by id");
  const add = (customer: string) =>
    service.sql(`insert into orders (customer) values ('${customer}')`);
  const copies = () => join(service.folder, "copies");
  const storage = () => createLocalStorage({ path: copies() });
  const inFile = (path: string) => join(copies(), path);
  const verified = async (id: number) => {
    const before = (await service.backup(id)).drill_output;
    await service.call("POST", `/api/backup/${id}/drill`);
    return soon(async () => {
      const found = await service.backup(id);
      expect(found.drill_status).not.toBe("running");
      expect(found.drill_output).not.toBe(before);
      return found;
    });
  };

  test("a run stores what has changed since the full, and a restore brings all of it back", async () => {
    const { id, incremental } = await service.installed({ incremental: true });
    expect(incremental).toBe(true);
    const full = await service.run(id);
    expect(full).toMatchObject({ status: "finished", base_id: null });
    expect(full.output).toContain("Storing a full backup: the storage has no full backup yet.");
    add("linus");
    const patch = await service.run(id);
    expect(patch.output).toMatch(
      new RegExp(`Stored as changes since backup ${full.id} \\(full, \\d+ kB\\): \\d`),
    );
    expect(patch).toMatchObject({ status: "finished", base_id: full.id, warnings: [] });
    expect(patch.path).toMatch(/\.sqlite\.patch\.zst$/);
    expect(patch.size).toBeLessThan(full.size / 10);
    expect(patch.plain_size).toBe(full.plain_size);
    const before = customers();
    add("lost");
    await service.call("PUT", `/api/backup/${patch.id}`);
    const restored = await service.restored(patch.id, "finished");
    expect(customers()).toEqual(before);
    // A safety backup is always a full one.
    const safety = (await service.show(id)).backups.find(({ trigger }) => trigger === "safety");
    expect(safety).toMatchObject({ base_id: null });
    expect(restored.restore_output).toContain("Restored.");
    expect((await verified(patch.id)).drill_status).toBe("finished");
    expect(await readdir(join(service.folder, "scratch"))).toEqual([]);
    expect(await service.files()).toHaveLength(3);
  });

  test("a full is kept while a backup needs it, and the schedule shows that", async () => {
    const { id } = await service.installed({ incremental: true, hold: 1 });
    const full = await service.run(id);
    const first = await service.run(id);
    const preview = async () =>
      (
        await service.json<BackupSchedule>("GET", `/api/backup-configuration/${id}/schedule`)
      ).body.removes_next.map((one) => one.id);
    expect(await preview()).toEqual([first.id]);
    const second = await service.run(id);
    await service.becomesGone(`/api/backup/${first.id}`);
    expect(second.base_id).toBe(full.id);
    expect(await service.messageOf("DELETE", `/api/backup/${full.id}`)).toBe(
      `Backup ${second.id} holds only what has changed since this one, and needs it. Delete backup ${second.id} first.`,
    );
    expect(await service.statusOf("DELETE", `/api/backup/${full.id}`)).toBe(409);
    // The database itself refuses what retention of an earlier version would do.
    const update = `update backups set status = 'deleting' where id = ${full.id} returning id`;
    expect(await service.query(update)).toEqual([]);
    expect(await service.statusOf("DELETE", `/api/backup/${second.id}`)).toBe(204);
    await service.becomesGone(`/api/backup/${second.id}`);
    expect(await service.statusOf("DELETE", `/api/backup/${full.id}`)).toBe(204);
    await service.becomesGone(`/api/backup/${full.id}`);
  });

  test("a damaged full marks its dependents as damaged until it verifies again, and the next run stores a full", async () => {
    const { id } = await service.installed({ incremental: true });
    const full = await service.run(id);
    const patch = await service.run(id);
    const whole = await readFile(inFile(full.path));
    await writeFile(inFile(full.path), Buffer.alloc(whole.length));
    const drilled = await verified(patch.id);
    expect(drilled.drill_status).toBe("failed");
    expect(drilled.damage).toMatch(
      new RegExp(`^Backup ${full.id}, which it needs, is damaged: Checksum mismatch`),
    );
    expect((await service.backup(full.id)).damage).toMatch(/^Checksum mismatch/);
    await writeFile(inFile(full.path), whole);
    expect((await verified(full.id)).drill_status).toBe("finished");
    expect(await service.backup(patch.id)).toMatchObject({ damage: null });
    // A run detects the missing full.
    await rm(inFile(full.path));
    const next = await service.run(id);
    expect(next).toMatchObject({ status: "finished", base_id: null });
    expect(next.output).toMatch(
      /Storing a full backup: backup \d+, the last full one, is damaged: \S+ is missing\.\n/,
    );
    expect(next.path).toMatch(/\.sqlite\.zst$/);
    expect((await service.backup(full.id)).damage).toMatch(/missing/);
    expect((await service.backup(patch.id)).damage).toMatch(/which it needs, is damaged/);
    // Somebody puts the file back.
    await writeFile(inFile(full.path), whole);
    expect((await verified(patch.id)).drill_status).toBe("finished");
  });

  test("a damaged file of changes is reported separately, and changes nothing", async () => {
    const { id } = await service.installed({ incremental: true });
    const full = await service.run(id);
    add("hopper");
    const patch = await service.run(id);
    const content = await readFile(inFile(patch.path));
    await writeFile(inFile(patch.path), content.fill(1, content.length - 8));
    const before = customers();
    await service.call("PUT", `/api/backup/${patch.id}`);
    const failed = await service.restored(patch.id, "failed");
    expect(failed.restore_output).toMatch(/Checksum mismatch/);
    expect(customers()).toEqual(before);
    expect(failed.damage).toMatch(/^Checksum mismatch/);
    expect((await service.backup(full.id)).damage).toBe(null);
  });

  test("its manifest names the full that it needs, and commands that restore it", async () => {
    const { id } = await service.installed({ incremental: true });
    const full = await service.run(id);
    add("knuth");
    const patch = await service.run(id);
    const before = customers();
    const manifest = JSON.parse(await readFile(manifestKeyOf(inFile(patch.path)), "utf8"));
    expect(manifest).toMatchObject({
      version: 2,
      base: {
        name: basename(full.path),
        sha256: full.checksum,
        uncompressed_size: full.plain_size,
      },
    });
    expect(JSON.parse(await readFile(manifestKeyOf(inFile(full.path)), "utf8")).version).toBe(1);
    await rm(join(service.folder, "orders.sqlite"));
    const cwd = dirname(inFile(patch.path));
    await execute("bash", ["-c", `set -e -o pipefail\n${manifest.restore.join("\n")}`], { cwd });
    expect(customers()).toEqual(before);
    expect((await readdir(cwd)).filter((name) => name.endsWith(".base"))).toEqual([]);
    const page = () => readFile(join(copies(), "RECOVERY.md"), "utf8");
    await soon(async () => expect(await page()).toContain(patch.path));
    expect(await page()).toContain(`It holds what has changed since backup ${full.id}`);
    expect((await page()).match(/sha256sum --check/g)).toHaveLength(2);

    const verify = () => verifyStorage(storage(), { signal: new AbortController().signal });
    const prefix = dirname(patch.path);
    const problemsIn = async () =>
      (await verify()).problems.filter(({ key }) => key.startsWith(prefix));
    expect(await problemsIn()).toEqual([]);
    await rename(inFile(full.path), inFile(`${full.path}.away`));
    expect(await problemsIn()).toEqual([
      { key: full.path, kind: "missing", reason: `${full.path} is missing.` },
      {
        key: patch.path,
        kind: "damaged",
        reason: expect.stringMatching(/holds what has changed since .* which is missing/),
      },
    ]);
    await rename(inFile(`${full.path}.away`), inFile(full.path));
  });

  test("is adopted with the full that it needs, and omitted without it", async () => {
    const { id } = await service.installed({ incremental: true });
    const full = await service.run(id);
    const patch = await service.run(id);
    const before = customers();
    const forget = (configurationId: number) =>
      service.call("DELETE", `/api/backup-configuration/${configurationId}`);
    const adopt = async () =>
      (await service.json<Adoption>("POST", "/api/inventory/storage-providers/1/adoption")).body;
    await forget(id);
    const { adopted, sources } = await adopt();
    expect(adopted).toBe(2);
    const adoptedId = sources[0]?.configuration_id ?? 0;
    await soon(async () => expect((await service.show(adoptedId)).status).toBe("installed"));
    const [newest, oldest] = (await service.show(adoptedId)).backups;
    expect(newest).toMatchObject({ path: patch.path, base_id: oldest?.id });
    expect(oldest).toMatchObject({ path: full.path, base_id: null });
    add("lost");
    await service.call("PUT", `/api/backup/${newest?.id}`);
    await service.restored(newest?.id ?? 0, "finished");
    expect(customers()).toEqual(before);

    await forget(adoptedId);
    await rm(inFile(full.path));
    const second = await adopt();
    expect(second.left_out).toContainEqual({
      path: patch.path,
      reason: `It holds what has changed since ${full.path}, which is missing, left out or another file.`,
    });
    expect(second.left_out).toContainEqual({ path: full.path, reason: expect.anything() });
  });

  /** `npm run soak -- kills` has 30. */
  const rounds = Number(process.env["PATCH_ROUNDS"] ?? 1);
  const seed = makeSeed();

  test(
    `${rounds} runs and restores that are canceled at any moment leave nothing half done (CRASH_SEED=${seed})`,
    async () => {
      const random = makeRandom(seed);
      // A hold so large that retention removes nothing.
      const { id } = await service.installed({ incremental: true, hold: rounds + 3 });
      await service.run(id);
      const startedMs = performance.now();
      const patch = await service.run(id);
      const usualMs = performance.now() - startedMs;
      expect(patch.base_id).not.toBe(null);
      const before = customers();
      const cancelAfter = async (backupId: number) => {
        await wait(random() * usualMs);
        // The task may have ended by then.
        expect([202, 409]).toContain(
          await service.statusOf("POST", `/api/backup/${backupId}/cancel`),
        );
        return soon(async () => {
          const found = await service.backup(backupId);
          expect(["finished", "failed"], found.output).toContain(found.status);
          expect(found.restore_status).not.toBe("running");
          return found;
        });
      };
      for (let round = 0; round < rounds; round++) {
        const { body } = await service.json<{ id: number }>("POST", `/api/backup/${id}`);
        const run = await cancelAfter(body.id);
        if (run.status === "failed") expect(run).toMatchObject({ path: "", base_id: null });
        const skips = { skip_safety_backup: true };
        await service.call("PUT", `/api/backup/${patch.id}`, skips);
        await cancelAfter(patch.id);
        expect(customers()).toEqual(before);
        const { backups } = await service.show(id);
        const finished = backups.filter(({ status }) => status === "finished");
        const prefix = dirname(patch.path);
        await soon(async () =>
          expect((await service.files()).filter((path) => path.startsWith(prefix))).toEqual(
            finished.map(({ path }) => path).sort(),
          ),
        );
        expect(await readdir(join(service.folder, "scratch"))).toEqual([]);
        await soon(async () => {
          const held = execFileSync("find", [
            `/proc/${process.pid}/fd`,
            "-printf",
            "%l\n",
          ]).toString();
          expect(held).not.toContain(join(service.folder, "scratch/dump-"));
          const { stdout } = await execute("ps", ["--ppid", String(process.pid), "-o", "args="]);
          expect(stdout).not.toContain("--patch-from");
        });
      }
    },
    90_000 + rounds * 30_000,
  );
});
