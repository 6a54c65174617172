// A restore that was done is told as done, also where Quarterdeck's own database fails just then.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBackupTestService, type BackupTestService } from "./testing/backup-service.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
  // A sequence counts on where the transaction is undone.
  await service.query("create sequence refused");
  await service.query(
    `create function refuse() returns trigger language plpgsql as $$ begin
       if nextval('refused') <= 0 then raise exception 'the disk is full' using errcode = 'disk_full'; end if;
       return new; end $$`,
  );
  await service.query(
    `create trigger refuse before update on backups for each row
       when (new.restore_status = 'finished') execute function refuse()`,
  );
});
afterAll(() => service.close());

test.each([
  ["at once", 1],
  ["by the next claim of its task", 2],
])("a restore whose outcome could not be stored is finished %s", async (_, times) => {
  const { id } = await service.installed();
  const run = await service.run(id);
  service.sql("insert into orders (customer) values ('since')");
  const before = service.sql("select * from orders");
  await service.query(`alter sequence refused minvalue -9 restart with ${1 - times}`);
  await service.call("PUT", `/api/backup/${run.id}`);
  const found = await service.restored(run.id, "finished");
  expect(found.restore_output).toMatch(/^Restored\./m);
  expect(found.restore_output).not.toMatch(/failed|unchanged/i);
  expect(service.sql("select * from orders")).not.toEqual(before);
  await service.call("DELETE", `/api/backup-configuration/${id}`);
});
