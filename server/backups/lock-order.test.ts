// Tests that jobs and requests lock the rows that both change in the same order, so that they do not deadlock, and that what
// comes in between changes no outcome.
import { appendFile, chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { createApp } from "../app.ts";
import { withClient } from "../testing/with-client.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

let service: BackupTestService;
/** A folder first in the PATH of jobs; its `tar` waits until the file `go` is there. */
let programs: string;
const path = process.env["PATH"] ?? "";
beforeAll(async () => {
  programs = await realpath(await mkdtemp(join(tmpdir(), "quarterdeck-programs-")));
  await chmod(programs, 0o755);
  service = await createBackupTestService({
    workerEnvironment: { PATH: `${programs}:${path}`, HOME: "/tmp" },
  });
  await writeFile(
    join(programs, "tar"),
    `#!/bin/sh\nuntil [ -e '${programs}/go' ]; do sleep 0.05; done\nPATH='${path}' exec tar "$@"\n`,
    { mode: 0o755 },
  );
});
afterAll(async () => {
  await service.close();
  await rm(programs, { recursive: true });
});

const isWaiting =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/**
 * Runs `meanwhile` while a drill of a backup waits to store its outcome.
 * @param prepare what happens to the backup before its drill
 * @returns the backup
 */
async function whileDrillEnds(
  meanwhile: (request: Client, backup: Backup) => Promise<unknown>,
  prepare: (backup: Backup) => Promise<unknown> = async () => undefined,
): Promise<Backup> {
  await writeFile(join(programs, "go"), "");
  const { id } = await service.installed();
  const backup = await service.run(id);
  await prepare(backup);
  // A server runs one job at a time, so this run keeps the drill waiting.
  const blocking = await service.installed({ backupable_type: "site", name: "Site" });
  await rm(join(programs, "go"));
  await service.call("POST", `/api/backup/${blocking.id}`);
  expect((await service.call("POST", `/api/backup/${backup.id}/drill`)).status).toBe(202);

  // Locks in the order of a request: the configuration first, then the backup.
  await withClient(service.connection, async (request) => {
    await request.query("begin");
    await request.query("select from backup_configurations where id = $1 for update", [id]);
    await writeFile(join(programs, "go"), "");
    await soon(async () => expect(await service.query(isWaiting)).toHaveLength(1));
    await meanwhile(request, backup);
  });
  return backup;
}

test("an ending drill does not lock its backup while it waits for the configuration", async () => {
  const { id } = await whileDrillEnds(async (request, backup) => {
    await request.query("select from backups where id = $1 for update", [backup.id]);
    await request.query("commit");
  });
  await soon(async () =>
    expect(await service.backup(id)).toMatchObject({ drill_status: "finished" }),
  );
});

test("a drill that found its backup damaged is failed, although the service stops before that is stored", async () => {
  const { id } = await whileDrillEnds(
    async (request) => {
      const stopping = service.app.close("stop");
      // Long enough for the stop to reach the drill.
      await wait(500);
      await request.query("commit");
      await stopping;
    },
    ({ path: file }) => appendFile(join(service.folder, "copies", file), "more"),
  );
  service.app = await createApp(service.options);
  expect(await service.backup(id)).toMatchObject({
    drill_status: "failed",
    drill_output: expect.stringMatching(/ bytes instead of /),
    damage: expect.stringMatching(/ bytes instead of /),
  });
});
