// Tests retention of random chains of incremental backups: every listed backup can be restored, from the files alone
// and through the service.
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup } from "../../../contract/backups/backup.ts";
import { systemClock } from "../../clock.ts";
import { storedFilesIn } from "../../storage/testing/stored-files.ts";
import { makeRandom, makeSeed } from "../../testing/random.ts";
import { removedAfterRun } from "../retention/retention.ts";
import {
  createBackupTestService,
  nightly,
  soon,
  type BackupTestService,
} from "../testing/backup-service.ts";

const run = promisify(execFile);

/** `npm run soak -- chains` has 1,000. */
const retentions = Number(process.env["CHAIN_RETENTIONS"] ?? 6);
const seed = makeSeed();
const dayMs = 24 * 3_600_000;

describe.skipIf(spawnSync("zstd", ["--version"]).error !== undefined)("on chains", () => {
  const random = makeRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const isDrawn = (share: number) => random() < share;
  // The configuration is due on leap days, so not during the test.
  let laterMs = Date.UTC(2028, 2, 1) - Date.now();
  let service: BackupTestService;
  let scratch: string;
  beforeAll(async () => {
    const clock = { ...systemClock, now: () => Date.now() + laterMs };
    service = await createBackupTestService({ clock });
    scratch = await mkdtemp(join(tmpdir(), "quarterdeck-chains-"));
  });
  afterAll(async () => {
    await service?.close();
    await rm(scratch, { recursive: true, force: true });
  });

  const page = () => join(service.folder, "shop/index.php");
  const copies = () => join(service.folder, "copies");
  let noise = Array.from({ length: 300 }, random);
  /** Returns content that changes a little each time, and sometimes entirely, so that the changes are too large for the chain. */
  const contentOf = (version: number) => {
    const share = isDrawn(0.1) ? 1 : 0.02;
    noise = noise.map((old) => (isDrawn(share) ? random() : old));
    return `version ${version};${noise.join()}`;
  };
  const keeping = () => ({
    hold: 1 + below(5),
    keep: isDrawn(0.5) ? { daily: 1 + below(4), weekly: 1 + below(3) } : null,
  });

  const now = () => new Date(Date.now() + laterMs);
  const toFacts = (one: Backup) => ({
    id: one.id,
    base_id: one.base_id ?? null,
    damage: one.damage ?? null,
    trigger: one.trigger === "safety" ? ("safety" as const) : ("manual" as const),
    started_at: new Date(one.started_at),
    ended_at: new Date(one.ended_at ?? one.started_at),
    pinned_at: one.pinned_at == null ? null : new Date(one.pinned_at),
  });

  /** Retention skips a backup that is being verified, and the full that it needs; a later run removes them. */
  const verifiedSince = (listed: readonly Backup[], run: Backup) =>
    new Set(
      listed
        .filter(({ verified_at: at }) => at != null && new Date(at) >= new Date(run.started_at))
        .flatMap(({ id, base_id: baseId }) => [id, baseId]),
    );

  /** Returns the content of a backup, decompressed by zstd alone. */
  async function contentInFiles({ path }: Backup, base: Backup | undefined): Promise<string> {
    const file = join(copies(), path);
    const full = join(scratch, `${base?.id}`);
    if (base !== undefined && !existsSync(full))
      await run("zstd", ["-dq", join(copies(), base.path), "-o", full]);
    const from = base === undefined ? [] : ["--long=31", `--patch-from=${full}`];
    const { stdout } = await run("zstd", ["-dqc", ...from, file], { encoding: "latin1" });
    return /version \d+;/.exec(stdout)?.[0] ?? "nothing";
  }

  test(
    `every backup that is listed after each of ${retentions} random retentions can be restored (CRASH_SEED=${seed})`,
    { timeout: 60_000 + retentions * 10_000 },
    async ({ annotate }) => {
      const body = {
        incremental: true,
        backupable_type: "site",
        // Not due during the simulated time, which is more than a year for 1,000 runs.
        frequency: "0 0 29 2 *",
      };
      let kept = keeping();
      const { id } = await service.installed({ ...body, ...kept });
      const list = async () =>
        (
          await service.json<{ data: Backup[] }>(
            "GET",
            `/api/backup-configuration/${id}/backups?per_page=100&filter[status]=finished`,
          )
        ).body.data;
      const versions = new Map<number, string>();
      const counts = { listed: 0, patches: 0, fulls: 0, gone: 0, pinned: 0 };
      let version = 0;

      const change = async () => {
        version += 1;
        await writeFile(page(), contentOf(version));
        // Advances by hours, or beyond the days that a full is used.
        laterMs += isDrawn(0.03) ? 8 * dayMs : random() * 0.25 * dayMs;
      };
      const disturb = async () => {
        const listed = await list();
        const one = listed[below(listed.length)];
        if (one === undefined) return;
        const what = random();
        if (what < 0.2) {
          const method = one.pinned_at == null ? "PUT" : "DELETE";
          expect(await service.statusOf(method, `/api/backup/${one.id}/pin`)).toBeLessThan(300);
        } else if (what < 0.4)
          expect([204, 409]).toContain(await service.statusOf("DELETE", `/api/backup/${one.id}`));
        else if (what < 0.6) {
          kept = keeping();
          const change = { ...nightly, ...body, ...kept };
          const path = `/api/backup-configuration/${id}`;
          expect(await service.statusOf("PUT", path, change)).toBe(200);
          await soon(async () => expect((await service.show(id)).status).toBe("installed"));
        }
      };
      const restore = async ({ id }: Backup, isUnsaved: boolean) => {
        const asked = { skip_safety_backup: isUnsaved };
        const { status, body } = await service.json("PUT", `/api/backup/${id}`, asked);
        expect(status, JSON.stringify(body)).toBe(202);
        await service.restored(id, "finished");
      };
      const restoreOne = async (listed: readonly Backup[]) => {
        const one = listed[below(listed.length)];
        if (one === undefined) throw new Error("Nothing is listed.");
        const isSaved = isDrawn(0.2);
        await change();
        await restore(one, !isSaved);
        expect(await readFile(page(), "utf8")).toContain(versions.get(one.id));
        if (!isSaved) return;
        const safety = (await list()).find(({ trigger }) => trigger === "safety");
        if (safety !== undefined && !versions.has(safety.id))
          versions.set(safety.id, `version ${version};`);
      };

      for (let round = 0; round < retentions; round++) {
        await change();
        const made = await service.run(id);
        expect(made.status, made.output).toBe("finished");
        versions.set(made.id, `version ${version};`);
        counts[made.base_id === null ? "fulls" : "patches"] += 1;
        // The storage lacks exactly what retention has removed.
        const listed = await soon(async () => {
          const found = await list();
          const due = removedAfterRun(found.map(toFacts), { ...kept, timeZone: "UTC" }, now());
          const verified = verifiedSince(found, made);
          expect(due.filter((one) => !verified.has(one.id))).toEqual([]);
          const paths = found.map(({ path }) => path).sort();
          expect(await storedFilesIn(copies())).toEqual(paths);
          return found;
        });
        const byId = new Map(listed.map((one) => [one.id, one]));
        for (const one of listed) {
          const base = one.base_id == null ? undefined : byId.get(one.base_id);
          expect(base === undefined, `backup ${one.id}`).toBe(one.base_id == null);
          expect(await contentInFiles(one, base), one.path).toBe(versions.get(one.id));
        }
        counts.listed += listed.length;
        counts.pinned += listed.filter((one) => one.pinned_at != null).length;
        counts.gone = versions.size - listed.length;
        if (isDrawn(0.3)) await restoreOne(listed);
        await disturb();
      }
      await annotate(JSON.stringify(counts));
      for (const one of await list()) {
        await restore(one, true);
        expect(await readFile(page(), "utf8")).toContain(versions.get(one.id));
      }
      // The run has stored changes, and has removed backups.
      expect(counts.patches).toBeGreaterThan(0);
      expect(counts.gone).toBeGreaterThan(0);
    },
  );
});
