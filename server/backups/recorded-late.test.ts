// Tests that completed work is recorded even if Quarterdeck's own database fails at that moment.
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backup } from "../../contract/backups/backup.ts";
import { createApp } from "../app.ts";
import { startCuttableLink, type CuttableLink } from "../testing/cuttable-link.ts";
import { withClient } from "../testing/with-client.ts";
import { createBackupTestService, soon, type BackupTestService } from "./testing/backup-service.ts";

let service: BackupTestService;
/** Between the service and its database, for some tests. */
let link: CuttableLink | undefined;
beforeAll(async () => {
  service = await createBackupTestService(
    {},
    { providers: (folder) => `  - { id: 3, name: second, type: local, path: ${folder}/second }` },
  );
  await mkdir(join(service.folder, "second"));
  // A sequence keeps its value when the transaction is rolled back.
  await service.query("create sequence refused");
  await service.query(
    `create function refuse() returns trigger language plpgsql as $$ begin
       if nextval('refused') <= 0 then raise exception 'the disk is full' using errcode = 'disk_full'; end if;
       return new; end $$`,
  );
});
afterAll(async () => {
  await service.close();
  await link?.close();
});

/** Makes the database refuse the next `times` changes of a backup that match `when`. */
async function refuse(when: string, times: number): Promise<void> {
  await service.query("drop trigger if exists refuse on backups");
  await service.query(`alter sequence refused minvalue -9 restart with ${1 - times}`);
  await service.query(
    `create trigger refuse before update on backups for each row when (${when}) execute function refuse()`,
  );
}

test.each([
  ["at once", 1],
  ["by the next claim of its task", 2],
])("finishes a restore whose outcome could not be stored %s", async (_, times) => {
  const { id } = await service.installed();
  const run = await service.run(id);
  service.sql("insert into orders (customer) values ('since')");
  const before = service.sql("select * from orders");
  await refuse("new.restore_status = 'finished'", times);
  await service.call("PUT", `/api/backup/${run.id}`);
  const found = await service.restored(run.id, "finished");
  expect(found.restore_output).toMatch(/^Restored\./m);
  expect(found.restore_output).not.toMatch(/failed|unchanged/i);
  expect(service.sql("select * from orders")).not.toEqual(before);
  await service.call("DELETE", `/api/backup-configuration/${id}`);
});

test("keeps a backup whose result could not be stored at once, and the reason of a failed one", async () => {
  const { id } = await service.installed();
  const files = await service.files();
  await refuse("new.status = 'finished'", 2);
  const run = await service.run(id);
  expect(run.status).toBe("finished");
  expect(run.output.match(/^Stored .* before compression/gm)).toHaveLength(1);
  expect(await service.files()).not.toEqual(files);

  const file = join(service.folder, "orders.sqlite");
  await rename(file, `${file}.away`);
  await refuse("new.status = 'failed'", 2);
  const failed = await service.run(id);
  expect(failed).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining("is not there"),
  });
  await rename(`${file}.away`, file);
});

test("reports a pending copy of a backup once, however often that is stored", async () => {
  const { id } = await service.installed({ copy_storage_provider_id: 3 });
  await refuse("new.status = 'running' and new.ended_at is not null", 2);
  const run = await service.run(id);
  expect(run.status).toBe("finished");
  expect(run.output.match(/Copying to second/g)).toHaveLength(1);
});

describe("a commit whose response is lost", () => {
  beforeAll(async () => {
    const { host, port = 5432 } = service.connection;
    link = await startCuttableLink(`${host}/.s.PGSQL.${port}`);
    await service.query("drop trigger if exists refuse on backups");
    await service.query(
      `create function hold_commit() returns trigger language plpgsql as $$ begin
         perform pg_advisory_xact_lock(4711); return new; end $$`,
    );
    await service.app.close("stop");
    const connection = { ...service.connection, host: "127.0.0.1", port: link.port };
    service.app = await createApp({ ...service.options, connection });
  });

  /** Loses the response to the first commit with a change of a backup that matches `when`, which `begin` causes. */
  async function loseResponse(when: string, begin: () => Promise<Backup>): Promise<Backup> {
    return withClient(service.connection, async (client) => {
      await client.query("drop trigger if exists hold_commit on backups");
      // Deferred to the commit.
      await client.query(
        `create constraint trigger hold_commit after update on backups deferrable initially deferred
           for each row when (${when}) execute function hold_commit()`,
      );
      await client.query("select pg_advisory_lock(4711)");
      const begun = await begin();
      await soon(async () => {
        const { rows } = await client.query(
          "select 1 from pg_locks where locktype = 'advisory' and objid = 4711 and not granted",
        );
        expect(rows).toHaveLength(1);
      });
      // Closes the connections. The database finishes the commit, and cannot say so.
      link?.mend();
      await client.query("select pg_advisory_unlock(4711)");
      return begun;
    });
  }
  const start = async (id: number) =>
    (await service.json<Backup>("POST", `/api/backup/${id}`)).body;
  const startOfRun = "old.status = 'pending' and new.status = 'running' and new.trigger <> 'copy'";

  test("fails a run whose start it was, and the next one is made", async () => {
    const { id } = await service.installed();
    const run = await loseResponse(startOfRun, () => start(id));
    const failed = await service.becomes(run.id, "failed");
    expect(failed.status_reason).toMatch(/database/);
    expect((await service.run(id)).status).toBe("finished");
  });

  test.each([
    ["start", "old.status = 'pending' and new.status = 'running'"],
    ["naming of its file", "old.path = '' and new.path <> ''"],
  ])("fails a copy whose %s it was, and its run ends without it", async (_, when) => {
    const { id } = await service.installed({ copy_storage_provider_id: 3 });
    const { id: runId } = await loseResponse(`new.trigger = 'copy' and ${when}`, () => start(id));
    const run = await service.becomes(runId, "finished");
    expect(run.warnings).toContainEqual(
      expect.stringMatching(/^Stored in disk, missing in second: /),
    );
    expect(run.copies).toMatchObject([{ status: "failed" }]);
  });

  test("stores a copy whose end it was once, and applies retention", async () => {
    const { id } = await service.installed({ copy_storage_provider_id: 3, hold: 1 });
    const before = await service.run(id);
    const when = "new.trigger = 'copy' and new.status = 'finished'";
    const { id: runId } = await loseResponse(when, () => start(id));
    const run = await service.becomes(runId, "finished");
    expect(run.output.match(/Copied to second/g)).toHaveLength(1);
    expect(run.copies).toMatchObject([{ status: "finished" }]);
    await service.becomesGone(`/api/backup/${before.id}`);
  });
});
