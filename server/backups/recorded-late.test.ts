// Tests that completed work is recorded even if Quarterdeck's own database fails at that moment.
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBackupTestService, type BackupTestService } from "./testing/backup-service.ts";

let service: BackupTestService;
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
afterAll(() => service.close());

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
