import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "../../contract/paging.ts";
import { ownUser } from "../testing/own-user.ts";
import { createTestService, type TestService } from "../testing/service.ts";

const inventory = (folder: string) => `
servers:
  - { id: 1, name: web-1, connection: local }
  - { id: 2, name: db_100%, connection: local }
  - { id: 3, name: Web-2, connection: local }
sites:
  - { id: 1, server: 1, name: shop.example.com, root: ${folder}/shop, user: ${ownUser} }
  - { id: 2, server: 1, name: blog.example.com, root: ${folder}/blog, user: ${ownUser} }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/1.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: this disk, type: local, path: ${folder}/copies }
`;

let service: TestService;
beforeAll(async () => {
  service = await createTestService({ inventory });
  // None of these changes state by itself, because none has a job.
  await service.query(
    `insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries,
       processes, startsecs, stopwaitsecs, startretries, stopsignal, status, crash_loop_since, crash_loop_reason)
     select 1, connection, queue, 0, 0, false, 128, 3, 60, 1, 1, 0, 10, 3, 'TERM', status, since, case when since is not null then 'It ends.' end
     from (values ('redis', 'emails', 'stopped', null), ('redis', 'exports', 'failed', null),
       ('database', 'default', 'stopping', null), ('redis', 'emails_high', 'installed', now()),
       ('sqs', 'emails', 'installed', null), ('redis', 'reports', 'failed', null),
       ('sqs', '100%', 'stopping', now())) as one(connection, queue, status, since)`,
  );
  await service.query(
    `insert into backup_configurations
       (server_id, name, frequency, hold, directory, storage_provider_id, type, database_id, site_id, status, missed_since,
        install_warnings, drill)
     select 1, name, '0 3 * * *', 7, 'there', 1, type, case type when 'database' then 1 end,
       case type when 'site' then 1 end, status, missed, case name when 'Partial' then '{"Tables are not saved."}' else '{}' end::text[],
       case name when 'Untried' then 7 end
     from (values ('Never run', 'site', 'installed', null), ('Good', 'database', 'installed', null),
       ('Bad', 'database', 'installed', null), ('Busy', 'site', 'installed', null),
       ('Refused', 'site', 'failed', null), ('Late', 'database', 'installed', now()),
       ('Rotten', 'site', 'installed', null), ('New', 'site', 'installing', null),
       ('Partial', 'site', 'installed', null), ('Small', 'site', 'installed', null),
       ('Holed', 'site', 'installed', null), ('Untried', 'site', 'installed', null))
       as one(name, type, status, missed)`,
  );
  await service.query(
    `insert into backups (configuration_id, storage_provider_id, trigger, status, size, damage, warnings, ended_at)
     select id, 1, trigger, run.status, size, damage,
       case n when 11 then '{"It is much smaller."}' else '{}' end::text[],
       now() - case c.name when 'Untried' then interval '9 days' else interval '0' end
     from (values (1, 'Good', 'manual', 'failed', 0, null), (2, 'Good', 'manual', 'finished', 20, null),
       (3, 'Good', 'safety', 'failed', 0, null), (4, 'Bad', 'manual', 'finished', 10, null),
       (5, 'Bad', 'manual', 'failed', 0, null), (6, 'Busy', 'manual', 'failed', 0, null),
       (7, 'Busy', 'manual', 'deleting', 5, null), (8, 'Busy', 'schedule', 'pending', 0, null),
       (9, 'Rotten', 'manual', 'finished', 30, 'It is shorter.'), (10, 'Partial', 'manual', 'finished', 20, null),
       (11, 'Small', 'manual', 'finished', 2, null), (12, 'Holed', 'manual', 'finished', 20, 'It is shorter.'),
       (13, 'Holed', 'manual', 'finished', 20, null), (14, 'Untried', 'manual', 'finished', 20, null))
       as run(n, configuration, trigger, status, size, damage)
     join backup_configurations c on c.name = run.configuration order by n`,
  );
  await service.query(
    `insert into webhooks (site_id, url, secret, failing_since, disabled_at, disabled_reason, paused_at)
     values (1, 'https://a.example/hook', 'x', null, null, null, null),
       (1, 'https://b.example/hook', 'x', now(), null, null, null),
       (1, 'https://c.example/hook', 'x', now(), now(), 'Receiver unsubscribed (410 Gone)', null),
       (1, 'https://d.example/hook', 'x', null, null, null, null),
       (1, 'https://e.example/hook', 'x', now(), now(), null, now())`,
  );
});
afterAll(() => service.close());

type Named = { id: number; name?: string; queue?: string; url?: string };

async function list(path: string, query: Record<string, string>) {
  const { status, body } = await service.json<Page<Named>>(
    "GET",
    `${path}?${new URLSearchParams(query)}`,
  );
  expect(status).toBe(200);
  return body;
}
const names = ({ data }: Page<Named>) => data.map(({ name, queue, url }) => name ?? queue ?? url);

const workers = "/api/site/1/workers";
const configurations = "/api/server/1/backups";
const webhooks = "/api/site/1/webhooks";

describe("lists failures first, then rows in transit, then the rest, each newest first", () => {
  test.each([
    [
      workers,
      ["reports", "exports", "emails_high", "100%", "default", "emails", "emails"],
      { failed: 2, crash_looping: 1, stopping: 2, installed: 1, stopped: 1, all: 7 },
    ],
    [
      configurations,
      [
        "Refused",
        "Rotten",
        "Late",
        "Bad",
        "Never run",
        "Untried",
        "Holed",
        "Small",
        "Partial",
        "New",
        "Busy",
        "Good",
      ],
      {
        failed: 1,
        failing: 3,
        unprotected: 1,
        warning: 4,
        installing: 1,
        running: 1,
        installed: 1,
      },
    ],
    [
      webhooks,
      ["b", "c", "e", "d", "a"].map((host) => `https://${host}.example/hook`),
      { failing: 1, disabled: 1, paused: 1, enabled: 2, all: 5 },
    ],
  ])("%s", async (path, expected, counts) => {
    const found = await list(path, { sort: "attention" });
    expect(names(found)).toEqual(expected);
    expect(found.meta.counts).toMatchObject(counts);
    expect(found.meta.total).toBe(expected.length);
    expect(found.meta.sorts).toContain("attention");
    // Every row has exactly one status.
    const { all, ...others } = found.meta.counts ?? {};
    expect(Object.values(others).reduce((sum, one) => sum + one, 0)).toBe(all);
  });

  test("the backups of a configuration", async () => {
    const busy = await list("/api/backup-configuration/4/backups", { sort: "attention" });
    expect(busy.meta.counts).toMatchObject({ failed: 1, deleting: 1, pending: 1, all: 3 });
    expect(busy.data.map(({ id }) => id)).toEqual([6, 8, 7]);
    const rotten = await list("/api/backup-configuration/7/backups", {
      "filter[status]": "damaged",
    });
    expect(rotten.meta).toMatchObject({ total: 1, counts: { damaged: 1, finished: 0 } });
  });
});

test("a filter by status lists only matching rows, and counts the others", async () => {
  const { data, meta } = await list(workers, { "filter[status]": "failed,crash_looping" });
  expect(data.map(({ queue }) => queue)).toEqual(["reports", "emails_high", "exports"]);
  expect(meta).toMatchObject({ total: 3, counts: { failed: 2, stopped: 1, all: 7 } });
});

test("links keep the parameters of the request, and the path has none of them", async () => {
  const { links, meta } = await list(workers, {
    search: "e m",
    "filter[status]": "installed,stopped",
    sort: "-queue",
    per_page: "1",
    page: "2",
  });
  const url = new URL(links.prev ?? "");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    page: "1",
    per_page: "1",
    "filter[status]": "installed,stopped",
    search: "e m",
    sort: "-queue",
  });
  expect(new URL(links.last).searchParams.get("page")).toBe("2");
  expect(meta).toMatchObject({ from: 2, to: 2, total: 2, last_page: 2 });
  expect(meta.path).toBe(url.origin + url.pathname);
});

describe("a search finds rows that contain each of its words", () => {
  test.each([
    [workers, "EMAILS on redis", ["emails_high", "emails"]],
    [workers, "redis emails_", ["emails_high"]],
    [workers, "worker 2", ["exports"]],
    [workers, "100%", ["100%"]],
    [workers, "%", ["100%"]],
    [workers, "nothing like it", []],
    [workers, "\\", []],
    [configurations, "orders", ["Late", "Bad", "Good"]],
    [configurations, "shop.example.com ne", ["New", "Never run"]],
    [webhooks, "unsubscribed", ["https://c.example/hook"]],
    ["/api/servers", "web", ["web-1", "Web-2"]],
    ["/api/servers", "db_1", ["db_100%"]],
    ["/api/server/1/sites", "blog", ["blog.example.com"]],
    ["/api/server/1/databases", "sqlite", ["orders"]],
    ["/api/storage-providers", "disk", ["this disk"]],
    ["/api/tokens", "no such token", []],
  ])("%s: %s", async (path, search, expected) => {
    const found = await list(path, { search });
    expect(names(found)).toEqual(expected);
    expect(found.meta.counts?.["all"]).toBe(expected.length);
  });
});

test.each([
  [workers, "queue", ["100%", "default", "emails", "emails", "emails_high", "exports", "reports"]],
  [workers, "id", ["emails", "exports", "default", "emails_high", "emails", "reports", "100%"]],
  ["/api/servers", "-name", ["Web-2", "web-1", "db_100%"]],
])("sorts %s by %s", async (path, sort, expected) => {
  expect(names(await list(path, { sort }))).toEqual(expected);
});

test("without parameters a list matches the interface", async () => {
  for (const query of [{}, { per_page: "x" }, { search: "", sort: "", "filter[status]": "" }]) {
    const { data, links, meta } = await list(workers, query);
    expect(data.map(({ id }) => id)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(meta).not.toHaveProperty("counts");
    expect(meta).not.toHaveProperty("sorts");
    expect(meta.per_page).toBe(20);
    expect(links.first).toBe(`${meta.path}?page=1`);
  }
});

describe("refuses unknown parameters, with all errors in one response", () => {
  test.each([
    [workers, { "filter[status]": "failed,broken", sort: "color" }, ["filter[status]", "sort"]],
    ["/api/servers", { "filter[status]": "failed" }, ["filter[status]"]],
    ["/api/servers", { sort: "attention" }, ["sort"]],
    [workers, { sort: "--id" }, ["sort"]],
    [workers, { search: "x".repeat(201) }, ["search"]],
    [workers, { search: "\0", sort: "x" }, ["search", "sort"]],
  ])("%s %o", async (path, query, fields) => {
    const { status, body } = await service.json<{ errors: object }>(
      "GET",
      `${path}?${new URLSearchParams(Object.entries(query))}`,
    );
    expect(status).toBe(422);
    expect(Object.keys(body.errors)).toEqual(fields);
  });
});

test("a token limited to some servers finds only those", async () => {
  const { body } = await service.json<{ token: string }>("POST", "/api/tokens", {
    name: "narrow",
    abilities: ["read"],
    server_ids: [3],
  });
  const answer = await service.call("GET", "/api/servers?search=web", undefined, body.token);
  const { data, meta }: Page<Named> = await answer.json();
  expect(data.map(({ id }) => id)).toEqual([3]);
  expect(meta).toMatchObject({ total: 1, counts: { all: 1 } });
});

test("the interface description lists the statuses and orders of each list", async () => {
  const described: {
    paths: Record<string, { get: { parameters: { name: string; schema: object }[] } }>;
  } = await (await service.call("GET", "/openapi.json")).json();
  const schemaOf = (path: string, name: string) =>
    described.paths[path]?.get.parameters.find((one) => one.name === name)?.schema;
  expect(schemaOf("/api/site/{id}/webhooks", "filter[status]")).toEqual({
    type: "array",
    items: { type: "string", enum: ["failing", "disabled", "paused", "enabled"] },
  });
  expect(schemaOf("/api/servers", "sort")).toEqual({
    type: "string",
    enum: ["id", "-id", "name", "-name"],
  });
  expect(schemaOf("/api/servers", "filter[status]")).toBeUndefined();
});
