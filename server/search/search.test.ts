import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  maxHits,
  maxHitsOfKind,
  maxSearchText,
  type SearchResults,
} from "../../contract/search.ts";
import { ownUser } from "../testing/own-user.ts";
import { createTestService, type TestService } from "../testing/service.ts";
import { toAsked } from "./service.ts";

const inventory = (folder: string) => `
servers:
  - { id: 1, name: web-1, connection: local }
  - { id: 2, name: web-2, connection: local }
sites:
  - { id: 1, server: 1, name: shop.example.com, root: ${folder}/shop, user: ${ownUser} }
  - { id: 2, server: 2, name: workshop.example.com, root: ${folder}/shop, user: ${ownUser} }
  - { id: 3, server: 1, name: münchen.example.com, root: ${folder}/shop, user: ${ownUser} }
  - { id: 4, server: 1, name: Заказы, root: ${folder}/shop, user: ${ownUser} }
  - { id: 5, server: 1, name: 100%_off, root: ${folder}/shop, user: ${ownUser} }
  - { id: 6, server: 1, name: "it's \\"quoted\\"", root: ${folder}/shop, user: ${ownUser} }
databases:
  - { id: 1, server: 1, name: orders, engine: sqlite, path: ${folder}/o.sqlite, user: ${ownUser} }
  - { id: 2, server: 2, name: orders-archive, engine: sqlite, path: ${folder}/a.sqlite, user: ${ownUser} }
storage_providers:
  - { id: 1, name: disk, type: local, path: ${folder}/copies }
`;

let service: TestService;
let narrowed: string;
let reading: string;

async function createToken(body: object): Promise<string> {
  const made = await service.json<{ token: string }>("POST", "/api/tokens", body);
  return made.body.token;
}

beforeAll(async () => {
  service = await createTestService({ inventory });
  // Inserted directly, because none of these should run.
  await service.query(
    `insert into workers (id, site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries,
       processes, startsecs, stopwaitsecs, startretries, stopsignal, status)
     overriding system value
     select id, site, connection, queue, 0, 0, false, 128, 3, 60, 1, 1, 0, 10, 3, 'TERM', status
     from (values (7, 1, 'redis', 'emails', 'failed'), (8, 2, 'redis', 'emails,exports', 'stopped'),
       (71, 1, 'database', 'default', 'stopped')) v (id, site, connection, queue, status)`,
  );
  await service.query(
    `insert into webhooks (site_id, url, secret, disabled_at, description)
     values (1, 'https://ci.example.com/hook', 'whsec_planted', null, 'Build server'),
       (2, 'https://chat.example.com/in', 'x', now(), '')`,
  );
  await service.query("update webhooks set failing_since = now() where site_id = 1");
  await service.query(
    "update workers set unreachable_since = now(), unreachable_reason = 'away', last_status = 'stopped' where id = 71",
  );
  await service.query(
    `insert into backup_configurations
       (server_id, name, frequency, hold, directory, storage_provider_id, type, database_id, status)
     values (1, 'Nightly', '0 3 * * *', 7, 'n', 1, 'database', 1, 'installed'),
       (2, 'Archive', '0 3 * * *', 7, 'a', 1, 'database', 2, 'failed')`,
  );
  narrowed = await createToken({ name: "narrowed", abilities: ["*"], server_ids: [2] });
  reading = await createToken({ name: "viewer", abilities: ["read"] });
});
afterAll(() => service.close());

async function search(text: string, token?: string): Promise<SearchResults> {
  const response = await service.call(
    "GET",
    `/api/search?${new URLSearchParams({ q: text })}`,
    undefined,
    token,
  );
  expect(response.status, text).toBe(200);
  return response.json();
}
const found = async (text: string, token?: string) =>
  (await search(text, token)).data.map(({ kind, name }) => `${kind} ${name}`);

test("a hit has a name, a place and a state", async () => {
  expect((await search("emails on redis")).data[0]).toEqual({
    kind: "worker",
    id: 7,
    name: "emails on redis",
    detail: "shop.example.com",
    status: "failed",
    server_id: 1,
    site_id: 1,
  });
  expect((await search("default on database")).data).toMatchObject([
    { kind: "worker", id: 71, status: "unreachable" },
  ]);
  expect((await search("nightly")).data).toEqual([
    {
      kind: "configuration",
      id: 1,
      name: "Nightly",
      detail: "orders on web-1",
      status: "installed",
      server_id: 1,
      site_id: null,
    },
  ]);
  expect((await search("build")).data).toMatchObject([{ kind: "webhook", status: "failing" }]);
  expect((await search("chat")).data).toMatchObject([
    { kind: "webhook", detail: "workshop.example.com", status: "disabled", site_id: 2 },
  ]);
});

describe("ranks the best first", () => {
  test.each([
    ["a name before its beginning", "orders", ["database orders", "database orders-archive"]],
    ["a word before a part of one", "shop", ["site shop.example.com", "site workshop.example.com"]],
    ["a word of the name before the place", "web-1", ["server web-1"]],
    [
      "a worker by its queue",
      "emails",
      ["worker emails on redis", "worker emails,exports on redis"],
    ],
    ["a worker by its connection", "redis", ["worker emails on redis"]],
    ["words of the name and of the place", "emails workshop", ["worker emails,exports on redis"]],
    ["words in any order", "redis exports", ["worker emails,exports on redis"]],
    ["a configuration by what it backs up", "nightly orders", ["configuration Nightly"]],
    ["a kind and a word", "worker emails", ["worker emails on redis"]],
    ["several of a kind and a word", "webhooks ci", ["webhook https://ci.example.com/hook"]],
    ["a site by the name of one of its pages", "shop webhooks", ["site shop.example.com"]],
    ["a webhook by its description", "build", ["webhook https://ci.example.com/hook"]],
    ["a part of a word", "xample.com/h", ["webhook https://ci.example.com/hook"]],
    ["capitals", "SHOP.EX", ["site shop.example.com"]],
    ["no accent where there is one", "munchen", ["site münchen.example.com"]],
    ["an accent where there is none", "shöp", ["site shop.example.com"]],
    ["another script, in capitals", "ЗАКАЗ", ["site Заказы"]],
    ["a token", "viewer", ["token viewer"]],
  ])("%s: %s", async (_what, text, expected) => {
    expect((await found(text)).slice(0, expected.length)).toEqual(expected);
  });
});

test.each([
  ["letters scattered over a word", "spxm"],
  ["first letters", "eor"],
  ["a wildcard of LIKE", "sh_p"],
  ["another one", "shop%com"],
  ["one of a regular expression", "sh.p"],
  ["nothing", ""],
  ["blanks", "   "],
])("%s finds nothing", async (_what, text) => {
  expect(await search(text)).toEqual({ data: [], counts: {} });
});

test.each([
  ["%", ["site 100%_off"]],
  ["%_", ["site 100%_off"]],
  ["it's", [`site it's "quoted"`]],
  ['"', [`site it's "quoted"`]],
  ["\\", []],
  ["'; drop table workers; --", []],
  ["😀", []],
  ["q".repeat(maxSearchText), []],
  ["zz ".repeat(maxSearchText / 4), []],
])("treats %s like any other text", async (text, expected) => {
  expect(await found(text)).toEqual(expected);
});

test.each([["q".repeat(maxSearchText + 1)], ["a\0b"]])("refuses %j", async (text) => {
  const response = await service.call("GET", `/api/search?${new URLSearchParams({ q: text })}`);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ errors: { q: [expect.any(String)] } });
});

test("an id finds its object, before objects with the id in their name", async () => {
  for (const text of ["7", "#7"])
    expect((await search(text)).data.map(({ kind, id }) => [kind, id])).toEqual([["worker", 7]]);
  expect((await search("worker 7")).data.map(({ id }) => id)).toEqual([7]);
  expect(await found("site 2")).toContain("site workshop.example.com");
  expect((await found("1"))[0]).toBe("server web-1");
  for (const text of ["2147483648", "99999999999", "worker 99999999999"])
    expect(await found(text)).toEqual([]);
});

test("a token limited to one server finds nothing of another, and no tokens", async () => {
  expect(await found("example", narrowed)).toEqual([
    "site workshop.example.com",
    "webhook https://chat.example.com/in",
    "worker emails,exports on redis",
  ]);
  for (const text of [
    "web-1",
    "nightly",
    "worker 7",
    "orders on web-1",
    "narrowed",
    "viewer",
    "ci",
  ])
    expect(await search(text, narrowed), text).toEqual({ data: [], counts: {} });
});

test("a read-only token finds no tokens", async () => {
  expect(await found("viewer", reading)).toEqual([]);
  expect(await found("shop.example.com", reading)).toContain("site shop.example.com");
});

test("no response contains a secret, and a search without a token is refused", async () => {
  expect(await found("planted")).toEqual([]);
  const { status } = await service.call("GET", "/api/search?q=shop", undefined, "none");
  expect(status).toBe(401);
});

test("returns only the best of many hits, and the number of all", async () => {
  await service.query(
    `insert into webhooks (site_id, url, secret)
     select 1, 'https://many.example.com/' || n, 'x' from generate_series(1, 50) n`,
  );
  const { data, counts } = await search("many");
  expect(data).toHaveLength(maxHitsOfKind);
  expect(counts).toEqual({ webhook: 50 });
  const e = await search("e");
  expect(e.data.length).toBeLessThanOrEqual(maxHits);
  expect(Object.keys(e.counts)).toContain("worker");
});

test("ignores the words of a kind and of its pages when it searches that kind", () => {
  const asked = (text: string) =>
    toAsked(text, ["worker", "site"]).map(({ text: part, id }) => [part, id]);
  expect(asked("Workers  emails")).toEqual([
    ["emails", null],
    ["emails", null],
  ]);
  expect(asked("webhooks emails")).toEqual([
    ["webhooks emails", null],
    ["emails", null],
  ]);
  expect(asked("worker #7")).toEqual([
    ["#7", 7],
    ["worker #7", null],
  ]);
  expect(asked("workers")).toEqual([
    ["workers", null],
    ["workers", null],
  ]);
  expect(asked(" ")).toEqual([]);
});
