import { readFile, writeFile } from "node:fs/promises";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Page } from "../../contract/paging.ts";
import {
  createBackupTestService,
  nightly,
  soon,
  type BackupTestService,
} from "./testing/backup-service.ts";

let service: BackupTestService;
beforeAll(async () => {
  service = await createBackupTestService();
});
beforeEach(() => service.clear());
afterAll(() => service?.close());

describe("a configuration", () => {
  test("is refused with all errors at once, including those that only the inventory reveals, and nothing is created", async () => {
    const { status, body } = await service.json("POST", "/api/server/1/backup-configuration", {
      ...nightly,
      name: "",
      frequency: "0 0 31 2 *",
      hold: "7",
      directory: "../elsewhere",
      storage_provider_id: 99,
      backupable_id: 99,
    });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: {
        errors: {
          name: ["The name field is required."],
          frequency: [expect.stringMatching(/^The day must be 1 to 29/)],
          hold: ["The hold field must be an integer."],
          directory: [expect.stringMatching(/relative path/)],
          storage_provider_id: ["The selected storage provider id is invalid."],
          backupable_id: ["The selected backupable id is invalid."],
        },
      },
    });
    const list = await service.json<Page<BackupConfiguration>>("GET", "/api/server/1/backups");
    expect(list.body.data).toEqual([]);
    // Only the schema reports values that cannot be looked up.
    const untyped = await service.json("POST", "/api/server/1/backup-configuration", {
      ...nightly,
      backupable_type: "disk",
      backupable_id: 99,
    });
    expect(untyped.body).toMatchObject({
      errors: {
        backupable_type: [
          "The selected backupable type is invalid. It must be one of database, site.",
        ],
      },
    });
    const { id } = await service.installed();
    const changed = await service.json("PUT", `/api/backup-configuration/${id}`, {
      ...nightly,
      hold: 0,
      storage_provider_id: 99,
    });
    expect(changed.body).toMatchObject({
      errors: {
        hold: ["The hold field must be at least 1."],
        storage_provider_id: ["The selected storage provider id is invalid."],
      },
    });
    expect(await service.show(id)).toMatchObject({ hold: 7, storage_provider_id: 1 });
  });

  test("that fails its rehearsal shows why, and keeps retrying on its schedule", async () => {
    const { id } = await service.configuration({ storage_provider_id: 2 });
    const failed = await soon(async () => {
      const found = await service.show(id);
      expect(found.status).toBe("failed");
      return found;
    });
    expect(failed.status_reason).toMatch(/not-there is not there/);
    expect(failed.next_run_at).not.toBeNull();
  });

  test("is changed in place; absent fields keep their values, and the source cannot change", async () => {
    const { id } = await service.installed({ hold: 3, directory: "nights" });
    const { status: code, body } = await service.json<BackupConfiguration>(
      "PUT",
      `/api/backup-configuration/${id}`,
      {
        name: "Renamed",
        frequency: "0 4 * * *",
        storage_provider_id: 1,
        backupable_type: "site",
        backupable_id: 1,
      },
    );
    expect(code).toBe(200);
    expect(body).toMatchObject({
      name: "Renamed",
      hold: 3,
      directory: "nights",
      type: "database",
      backupable: { id: 1 },
    });
    await soon(async () => {
      const found = await service.show(id);
      expect(found.status).toBe("installed");
      expect(found.next_run_at).toMatch(/T04:00/);
    });
  });

  test("is listed with its newest backups", async () => {
    const { id } = await service.installed();
    await service.installed({ name: "Site", backupable_type: "site" });
    const { id: backupId } = await service.run(id);
    const { body } = await service.json<Page<BackupConfiguration>>("GET", "/api/server/1/backups");
    expect(body.data.map(({ name }) => name)).toEqual(["Site", "Shop"]);
    const shop = body.data[1];
    expect(shop?.last_backup?.id).toBe(backupId);
    expect(shop?.last_backup_at).toBe(shop?.last_backup?.started_at);
    expect(shop?.backups.map((backup) => backup.id)).toEqual([backupId]);
    expect(shop?.schedule_words).toMatch(/02:30/);
  });
});

test("one without a backup is unprotected, and is listed before those that have one", async () => {
  const { id: protectedId } = await service.installed();
  await service.run(protectedId);
  const { id } = await service.installed({ name: "New", directory: "new" });
  const { id: older } = await service.installed({ name: "Protected", directory: "other" });
  await service.run(older);
  const list = async (query: string) => {
    const path = `/api/server/1/backups?${query}`;
    const { body } = await service.json<Page<BackupConfiguration>>("GET", path);
    return { ids: body.data.map((one) => one.id), counts: body.meta.counts };
  };
  // The two backups are so small that there is a warning.
  const counts = expect.objectContaining({ all: 3, unprotected: 1, warning: 2 });
  expect(await list("sort=attention")).toEqual({ ids: [id, older, protectedId], counts });
  expect((await list("filter[status]=unprotected")).ids).toEqual([id]);
  await service.run(id);
  expect((await list("filter[status]=unprotected")).ids).toEqual([]);
});

test("invalid values are refused at their fields, and nothing is created", async () => {
  const refused: [string, object, Record<string, RegExp>][] = [
    [
      "nothing",
      { name: undefined, frequency: undefined },
      { name: /required/, frequency: /required/ },
    ],
    ["an impossible schedule", { frequency: "0 0 31 2 *" }, { frequency: /./ }],
    ["a macro", { frequency: "@daily" }, { frequency: /./ }],
    ["six fields", { frequency: "0 0 * * * *" }, { frequency: /five/ }],
    ["a minute that is none", { frequency: "75 0 * * *" }, { frequency: /75/ }],
    ["a directory above", { directory: "../etc" }, { directory: /relative path/ }],
    ["an absolute directory", { directory: "/etc" }, { directory: /relative path/ }],
    ["a control character", { directory: "a\u0001b" }, { directory: /Control/ }],
    ["an id that is a text", { backupable_id: "1" }, { backupable_id: /must be an integer/ }],
    ["a hold of 0", { hold: 0 }, { hold: /at least 1/ }],
    ["a hold beyond a year of hours", { hold: 8761 }, { hold: /greater than 8760/ }],
    ["a provider that is none", { storage_provider_id: 99 }, { storage_provider_id: /invalid/ }],
    ["a type that is none", { backupable_type: "disk" }, { backupable_type: /invalid/ }],
    ["a database that is none", { backupable_id: 99 }, { backupable_id: /invalid/ }],
    ["a database of another server", { backupable_id: 2 }, { backupable_id: /another server/ }],
  ];
  for (const [what, change, expected] of refused) {
    const found = await service.errorsOf("POST", "/api/server/1/backup-configuration", {
      ...nightly,
      ...change,
    });
    for (const [field, text] of Object.entries(expected))
      expect(found[field]?.[0], what).toMatch(text);
  }
  const list = await service.json<Page<unknown>>("GET", "/api/server/1/backups");
  expect(list.body.meta.total).toBe(0);
});

test("keep rules are stored, changed and cleared, and invalid ones are refused at their fields", async () => {
  const keep = { daily: 14, weekly: null, monthly: 12 };
  const made = await service.installed({ keep });
  expect(made.keep).toEqual({ daily: 14, monthly: 12 });
  const put = (change: object) =>
    service.json<BackupConfiguration>("PUT", `/api/backup-configuration/${made.id}`, {
      name: "Shop",
      frequency: "30 2 * * *",
      storage_provider_id: 1,
      ...change,
    });
  // Omitted fields keep their values.
  expect((await put({})).body.keep).toEqual({ daily: 14, monthly: 12 });
  expect((await put({ keep: { yearly: 3 } })).body.keep).toEqual({ yearly: 3 });
  for (const none of [null, { hourly: null }])
    expect((await put({ keep: none })).body.keep).toBe(null);
  const wrong = { ...nightly, keep: { daily: 0, minutely: 3 } };
  const errors = await service.errorsOf("POST", "/api/server/1/backup-configuration", wrong);
  expect(Object.keys(errors).every((name) => name.startsWith("keep"))).toBe(true);
  expect(JSON.stringify(errors)).toMatch(/minutely/);
});

test("a run keeps what a rule keeps, beyond the hold", async () => {
  const { id } = await service.installed({ hold: 1, keep: { daily: 2 } });
  const days = [await service.run(id), await service.run(id), await service.run(id)];
  const client = new pg.Client(service.connection);
  await client.connect();
  // Two of the day before yesterday, one of yesterday.
  for (const [index, backup] of days.entries())
    await client.query(
      "update backups set started_at = date_trunc('day', now()) - interval '2 days' + $2 * interval '12 hours' where id = $1",
      [backup.id, index],
    );
  await client.end();
  const newest = await service.run(id);
  await soon(async () =>
    expect((await service.show(id)).backups.map((backup) => backup.id)).toEqual([
      newest.id,
      days[2]?.id,
    ]),
  );
});

test("a configuration follows its database to the server to which the inventory moves it", async () => {
  const countOf = async (server: number) =>
    (await service.json<Page<BackupConfiguration>>("GET", `/api/server/${server}/backups`)).body
      .meta.total;
  const { status } = await service.json("POST", "/api/server/1/backup-configuration", nightly);
  expect(status).toBe(201);
  expect([await countOf(1), await countOf(2)]).toEqual([1, 0]);
  const text = await readFile(service.inventoryFile, "utf8");
  await writeFile(
    service.inventoryFile,
    text.replace("{ id: 1, server: 1, name: orders", "{ id: 1, server: 2, name: orders"),
  );
  await soon(async () => expect([await countOf(1), await countOf(2)]).toEqual([0, 1]));
});
