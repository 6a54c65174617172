// Tests a request whose query the database refuses: none of its values is returned or logged.
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { createLog } from "../log.ts";
import { createTestService, oneSite, type TestService } from "../testing/service.ts";
import { soon } from "../testing/soon.ts";

const lines: string[] = [];
let service: TestService;
let database: pg.Client;
beforeAll(async () => {
  service = await createTestService({
    log: createLog("trace", { write: (line) => void lines.push(line) }),
    inventory: (folder) => `${oneSite(folder)}
storage_providers: [{ id: 1, name: disk, type: local, path: ${folder} }]`,
  });
  database = new pg.Client(service.connection);
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await service.close();
});

test("a webhook that the database refuses is a 500 with its request id, without its secret and URL", async () => {
  await database.query("alter table webhooks add constraint refused check (url like '%allowed%')");
  const url = "http://127.0.0.1:1/hooks/T0AB12CD3/xYzPlanted";
  const answer = await service.json<{ message: string; request_id: string }>(
    "POST",
    "/api/site/1/webhook",
    { url },
  );
  expect(answer).toEqual({
    status: 500,
    body: { message: "Server Error", request_id: expect.any(String) },
  });
  const logged = lines.filter((line) => line.includes(answer.body.request_id));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("refused");
  expect(lines.join("")).not.toMatch(/whsec_|xYzPlanted/);
});

test("a run that the database refuses says so without the values of the query, in reason, output and log", async () => {
  const planted = "planted-directory";
  const { body } = await service.json<BackupConfiguration>(
    "POST",
    "/api/server/1/backup-configuration",
    {
      name: "Shop",
      frequency: "0 3 * * *",
      directory: planted,
      storage_provider_id: 1,
      backupable_type: "site",
      backupable_id: 1,
    },
  );
  const path = `/api/backup-configuration/${body.id}`;
  await soon(async () => {
    const { status } = (await service.json<BackupConfiguration>("GET", path)).body;
    expect(status).toBe("installed");
  });
  await database.query("alter table backups add constraint refused check (path = '')");
  const asked = await service.json<Backup>("POST", `/api/backup/${body.id}`);
  const failed = await soon(async () => {
    const { body: backup } = await service.json<Backup>("GET", `/api/backup/${asked.body.id}`);
    expect(backup.status).toBe("failed");
    return backup;
  });
  const words =
    'Unexpected error: new row for relation "backups" violates check constraint "refused"';
  expect(failed.status_reason).toBe(words);
  expect(failed.output).toBe(`${words}\n`);
  expect(lines.join("")).toContain("a backup failed unexpectedly");
  expect(lines.join("")).not.toContain(planted);
});
