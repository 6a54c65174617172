// A really full disk: a small tmpfs that is mounted for the test.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { EventEmitter } from "node:events";
import { chmod, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { systemClock, type Clock } from "../../clock.ts";
import { openDatabase } from "../database.ts";
import { describeDatabaseError } from "../database-error.ts";
import { sql } from "../drizzle.ts";
import { isLinux, isRoot, makeFolder } from "../../testing/machine.ts";
import { silent, startDatabase } from "./testing/instances.ts";

const run = promisify(execFile);

const quickClock: Clock = {
  now: () => systemClock.now() * 20,
  after: (delayMs, go) => systemClock.after(delayMs / 20, go),
};

async function mountDisk(megabytes: number): Promise<string | null> {
  const folder = await makeFolder();
  await chmod(folder, 0o711);
  const disk = join(folder, "disk");
  await mkdir(disk);
  const size = `size=${megabytes}m,mode=755`;
  const mounted = await run("mount", ["-t", "tmpfs", "-o", size, "tmpfs", disk]).catch(() => null);
  if (!mounted) return null;
  onTestFinished(async () => void (await run("umount", ["--lazy", disk])));
  return disk;
}

/** Fills the disk except for one megabyte. */
async function fill(path: string): Promise<void> {
  const file = await open(path, "w");
  const block = Buffer.alloc(64 * 1024, 1);
  try {
    for (;;) await file.write(block);
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
    await file.truncate((await file.stat()).size - 1024 * 1024);
  } finally {
    await file.close();
  }
}

test.skipIf(!isRoot || !isLinux)(
  "reports a full disk, loses no stored row, and works again once there is space (root on Linux only: mounts a disk)",
  async ({ skip }) => {
    const disk = await mountDisk(160);
    if (disk === null) return skip("mounting is not allowed here");
    const changes = new EventEmitter();
    const reasons: (string | null)[] = [];
    const { connection } = await startDatabase({
      folder: join(disk, "postgres"),
      log: silent,
      clock: quickClock,
      onDiagnosis: (reason) => {
        reasons.push(reason);
        changes.emit(reason === null ? "up" : "down");
      },
    });
    const pool = new Pool({ ...connection, max: 2 });
    pool.on("error", () => {});
    onTestFinished(() => pool.end());
    const database = await openDatabase(connection, () => undefined);
    onTestFinished(() => database.close());
    await pool.query("create table t (id int primary key, filling text not null)");

    const ballast = join(disk, "ballast");
    const fallen = once(changes, "down");
    await fill(ballast);
    const saved: number[] = [];
    let refusal: unknown = null;
    for (let id = 1; refusal === null; id += 1) {
      try {
        const filling = sql`repeat(md5(${String(id)}), 1000)`;
        await database.db.execute(sql`insert into t values (${id}, ${filling})`);
        saved.push(id);
      } catch (error) {
        refusal = error;
      }
    }
    expect(saved.length).toBeGreaterThan(0);
    expect(describeDatabaseError(refusal)).toMatch(
      /disk is full|disk .* is full|is not responding/,
    );

    const unready = await database.ping().catch((error: unknown) => error);
    expect(describeDatabaseError(unready)).toMatch(
      /disk is full|disk .* is full|is not responding/,
    );

    // Until the WAL needs its next file, a full disk only rejects single rows. From then on the server itself is down.
    const pushing = push(pool, () => reasons.length === 0, saved);
    await fallen;
    await pushing;
    expect(reasons[0]).toBe(
      `The disk that holds ${join(disk, "postgres")} is full (0 MB free). Free some space; the database then restarts automatically.`,
    );

    const well = once(changes, "up");
    await rm(ballast);
    await well;
    const { rows } = await pool.query<{ id: number }>("select id from t order by id");
    const found = new Set(rows.map(({ id }) => id));
    expect(saved.filter((id) => !found.has(id))).toEqual([]);
    await pool.query("insert into t values (0, 'works again')");
    await expect(database.ping()).resolves.toBeUndefined();
  },
);

/** Inserts rows while `isUp`, and makes the WAL continue in its next file. */
async function push(pool: Pool, isUp: () => boolean, saved: number[]): Promise<void> {
  for (let id = 1_000_000; isUp(); id += 1) {
    try {
      await pool.query("insert into t values ($1, 'x')", [id]);
      saved.push(id);
    } catch {
      // The row is rejected, as expected.
    }
    await pool.query("select pg_switch_wal()").catch(() => sleep(5));
  }
}

test.skipIf(!isRoot || !isLinux)(
  "reports a full disk at the start (root on Linux only: mounts a disk)",
  async ({ skip }) => {
    const disk = await mountDisk(2);
    if (disk === null) return skip("mounting is not allowed here");
    await fill(join(disk, "ballast"));
    const folder = join(disk, "postgres");
    await expect(startDatabase({ folder })).rejects.toThrow(
      /^The disk that holds .*postgres is full \(\d MB free\)\. Free some space, then start Quarterdeck again\.$/,
    );
  },
);
