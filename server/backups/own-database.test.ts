// Tests backups of Quarterdeck's own database, which a restore must leave as it is.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBackupTestService, type BackupTestService } from "./testing/backup-service.ts";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "./testing/postgres-server.ts";

const words =
  "it is Quarterdeck's own database, which would forget all that happened since, the restore included.";

describe.skipIf(!hasPostgresServer)("Quarterdeck's own database", () => {
  let server: PostgresServer;
  let service: BackupTestService;

  beforeAll(async () => {
    server = await startPostgresServer();
    await server.createDatabase("quarterdeck");
    await server.createDatabase("blog");
    await server.query("blog", "create table settings as select 1 as key, 'old' as value");
    const connectionString = server.url("quarterdeck");
    service = await createBackupTestService(
      { connection: { connectionString }, secrets: { OWN: connectionString } },
      {
        databases: () => `  - { id: 9, server: 1, name: own, engine: postgres, url: env:OWN }
  - { id: 10, server: 1, name: all, engine: postgres, url: env:OWN, scope: server }`,
      },
    );
  });
  afterAll(async () => {
    await service?.close();
    await server?.stop();
  });

  const restore = async (id: number, outcome: "finished" | "failed") => {
    expect(await service.statusOf("PUT", `/api/backup/${id}`)).toBe(202);
    return service.restored(id, outcome);
  };

  test("is not restored, and its backups say so", async () => {
    const backup = await service.run((await service.installed({ backupable_id: 9 })).id);
    expect(backup.output).toContain(`A restore would be refused: ${words}`);
    const { restore_output: output } = await restore(backup.id, "failed");
    expect(output).toContain(`Nothing was changed: ${words}`);
    expect(output).not.toContain("Backing up current data.");
  });

  test("stays unchanged when all databases of its server are restored", async () => {
    const backup = await service.run((await service.installed({ backupable_id: 10 })).id);
    await server.query("blog", "update settings set value = 'new'");
    const { restore_output: output } = await restore(backup.id, "finished");
    expect(output).toContain(`Left quarterdeck as it is: ${words}`);
    expect(output).not.toContain("doesn't hold");
    expect(await server.query("blog", "select value from settings")).toEqual([{ value: "old" }]);
  });
});
