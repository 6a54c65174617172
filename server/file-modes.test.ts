// Tests that other accounts have no access to what the service writes, whatever the umask it was started with.
import { chmod, mkdtemp, mkdir, readdir, realpath, rm, lstat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../contract/backups/backup.ts";
import type { Worker } from "../contract/workers/worker.ts";
import { startService, type ServiceProcess } from "./testing/service-process.ts";
import { workerBody } from "./testing/worker-body.ts";
import { soon } from "./testing/soon.ts";

const isRoot = process.getuid?.() === 0;

/** As root: the database's account needs to pass through two folders, read its rules, and may need its own programs. */
const meantForTheDatabase: readonly (readonly [path: RegExp, mode: number])[] = isRoot
  ? [
      [/^(data|data\/postgres)$/, 0o711],
      [/^data\/postgres\/pg_hba\.conf$/, 0o640],
      [/^data\/postgres\/programs(\/|$)/, 0o755],
    ]
  : [];

/** Entries that other programs create in closed folders of the service: the sample's program, and tar as in the site. */
const madeByOthers = /^data\/(sample-site\/done(\/|$)|scratch\/drill-\d+\/content\/)/;

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-modes-")));
  // Like the usual parent of a data folder: otherwise the database would be in another folder.
  await chmod(folder, 0o711);
  await mkdir(join(folder, "temporary"), { mode: 0o700 });
  const umask = process.umask(0);
  const starting = startService(join(folder, "data"), { TMPDIR: join(folder, "temporary") });
  process.umask(umask);
  service = await starting;
});
afterAll(async () => {
  await service.end("SIGINT");
  await rm(folder, { recursive: true, force: true });
});

const json = async <Body>(method: string, path: string, body?: unknown): Promise<Body> =>
  (await service.call(method, path, body)).json();

/** All entries that had too wide a mode at any time, including temporary ones. */
const found = new Set<string>();

const becomes = (path: string, state: object) =>
  soon(async () => {
    await look();
    expect(await json("GET", path)).toMatchObject(state);
  });

/** Records every file and folder to which others have more access than intended. */
async function look(): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    // The entry may have been removed meanwhile.
    const stats = await lstat(join(folder, path)).catch(() => null);
    if (stats === null || stats.isSymbolicLink() || madeByOthers.test(path)) continue;
    const allowed = meantForTheDatabase.find(([pattern]) => pattern.test(path))?.[1] ?? 0o700;
    if ((stats.mode & 0o777 & ~allowed) !== 0)
      found.add(`${(stats.mode & 0o777).toString(8)} ${path}`);
  }
}

test("a service that was started with umask 000 writes nothing that other accounts can read or change", async () => {
  const worker = await json<Worker>("POST", "/api/site/1/worker", workerBody);
  await becomes(`/api/worker/${worker.id}`, { status: "installed" });
  const nightly = { name: "Nightly", frequency: "30 2 * * *", storage_provider_id: 1 };
  for (const what of [
    { backupable_type: "database", backupable_id: 1 },
    { backupable_type: "site", backupable_id: 1 },
  ]) {
    const { id } = await json<BackupConfiguration>("POST", "/api/server/1/backup-configuration", {
      ...nightly,
      ...what,
    });
    await becomes(`/api/backup-configuration/${id}`, { status: "installed" });
    const run = await json<Backup>("POST", `/api/backup/${id}`);
    await becomes(`/api/backup/${run.id}`, { status: "finished" });
    await service.call("POST", `/api/backup/${run.id}/drill`);
    await becomes(`/api/backup/${run.id}`, { drill_status: "finished" });
  }
  await look();
  expect([...found].join("\n")).toBe("");
});
