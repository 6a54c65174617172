// Tests what a failed restore drill says about its configuration: that its source is not as safe as it seems.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import type { Overview } from "../../../contract/overview.ts";
import type { Page } from "../../../contract/paging.ts";
import { soon } from "../../testing/soon.ts";
import { createBackupTestService, type BackupTestService } from "../testing/backup-service.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
  // An empty database would be a warning of its own.
  service.sql(
    "create table notes as with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) select i, randomblob(50) from n",
  );
});
afterAll(() => service.close());

/** Makes a dump's content differ from what its run counted, as if rows were missing. */
const loseRows = ({ id }: Pick<Backup, "id">) =>
  service.query(
    "update backups set manifest = jsonb_set(manifest, '{tables,notes}', '501') where id = $1",
    [id],
  );

async function failDrill({ id }: Pick<Backup, "id">): Promise<void> {
  await service.call("POST", `/api/backup/${id}/drill`);
  await soon(async () => {
    const { drill_status: status, drill_output: output } = await service.backup(id);
    expect(status, output ?? "").toBe("failed");
  });
}

/** What the list, the overview and the metrics say about the configuration. */
async function told({ id, name }: Pick<BackupConfiguration, "id" | "name">) {
  const [list, overview, metrics] = await Promise.all([
    service.json<Page<BackupConfiguration>>("GET", "/api/server/1/backups?filter[status]=warning"),
    service.json<Overview>("GET", "/api/overview"),
    service.call("GET", "/metrics"),
  ]);
  const problem = overview.body.protection?.problems.find((one) => one.name === "orders");
  const text = await metrics.text();
  return {
    listed: list.body.data.some((one) => one.id === id),
    reason: problem?.reason,
    metric: text.match(
      RegExp(`^quarterdeck_backup_drill_failed\\{.*"${name}".*\\} (\\d)$`, "m"),
    )?.[1],
  };
}

test("a configuration whose backup failed its drill needs attention until this or a newer backup passes one", async () => {
  const configuration = await service.installed({ drill: 7 });
  const first = await service.run(configuration.id);
  const well = { listed: false, reason: undefined, metric: "0" };
  expect(await told(configuration)).toEqual(well);
  await loseRows(first);
  await failDrill(first);
  const failing = {
    listed: true,
    reason: `Backup ${first.id} failed its restore drill.`,
    metric: "1",
  };
  expect(await told(configuration)).toEqual(failing);
  expect((await service.show(configuration.id)).failed_drill).toMatchObject({
    backup_id: first.id,
  });

  // A newer backup alone proves nothing.
  const second = await service.run(configuration.id);
  expect(await told(configuration)).toEqual(failing);
  await service.drilled(second.id);
  expect(await told(configuration)).toEqual(well);
  expect((await service.show(configuration.id)).failed_drill).toBeNull();
  // A restore would take the newer one.
  await failDrill(first);
  expect(await told(configuration)).toEqual(well);
});
