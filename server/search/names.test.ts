// Compares the search with a model that reads all names completely, over random names.
import { afterAll, beforeAll, expect, test } from "vitest";
import { maxHits, maxHitsOfKind, type SearchResults } from "../../contract/search.ts";
import { createTestDatabase, type TestDatabase } from "../testing/database.ts";
import { makeRandom, makeSeed } from "../testing/random.ts";
import { createSearchService, toAsked } from "./service.ts";

const seed = makeSeed("SEARCH_SEED");
const random = makeRandom(seed);
const below = (many: number) => Math.floor(random() * many);
const oneOf = <Value>(values: readonly [Value, ...Value[]]): Value =>
  values[below(values.length)] ?? values[0];
const plain = ["shop", "SHOP", "web", "on", "o", "a", "1", "12", "7", "redis", "postgres"] as const;
const odd = ["%", "_", "\\", "'", '"', "-", ".", "/", "#", ":", "·", "  "] as const;
const foreign = ["é", "e\u0301", "ü", "Ж", "ﬁ", "½", "Ⅷ", "😀", "\u0301", "\u00A0", "¨"] as const;
const makeText = (most: number) =>
  Array.from({ length: 1 + below(most) }, () =>
    oneOf([oneOf(plain), oneOf(odd), oneOf(foreign)]),
  ).join(oneOf(["", "", " "]));

const [servers, sites, others] = [6, 30, 90];
const kinds = ["server", "site", "database", "configuration", "worker", "webhook"] as const;

let database: TestDatabase;
const query = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  (await database.db.$client.query<Row>(text, values)).rows;

beforeAll(async () => {
  database = await createTestDatabase();
  await query("insert into storage_providers (id, name, entry) values (1, 'copies', '{}')");
  for (let id = 1; id <= servers; id++)
    await query("insert into servers (id, name, entry) values ($1, $2, '{}')", [id, makeText(5)]);
  for (let id = 1; id <= sites; id++) {
    const place = [id, 1 + below(servers), makeText(6)];
    await query("insert into sites (id, server_id, name, entry) values ($1, $2, $3, '{}')", place);
    await query(
      `insert into databases (id, server_id, name, entry) values ($1, $2, $3, '{"engine": "postgres"}')`,
      place,
    );
  }
  for (let count = 0; count < others; count++) {
    await query(
      `insert into workers (site_id, connection, queue, max_jobs, max_time, force, memory, sleep, timeout, tries,
         processes, startsecs, stopwaitsecs, startretries, stopsignal, status)
       values ($1, 'redis', $2, 0, 0, false, 128, 3, 60, 1, 1, 0, 10, 3, 'TERM', 'stopped')`,
      [1 + below(sites), makeText(5)],
    );
    await query(
      "insert into webhooks (site_id, url, secret, description) values ($1, $2, 'x', $3)",
      [1 + below(sites), `https://${makeText(2)}`, oneOf(["", makeText(5)])],
    );
    const type = oneOf(["site", "database"]);
    await query(
      `insert into backup_configurations (server_id, name, frequency, hold, directory, storage_provider_id, type, ${type}_id, status)
       select server_id, $1, '0 3 * * *', 7, '', 1, $2, id, 'installed' from ${type}s where id = $3`,
      [makeText(5), type, 1 + below(sites)],
    );
  }
});
afterAll(() => database.close());

type Thing = {
  kind: (typeof kinds)[number];
  id: number;
  name: string;
  detail: string;
  extra: string;
  server_id: number;
};

/** Returns all objects with their texts, as they are shown. */
const readThings = () =>
  query<Thing>(`
    select 'server' as kind, id, name, '' as detail, '' as extra, id as server_id from servers
    union all
    select 'site', s.id, s.name, v.name, '', v.id from sites s join servers v on v.id = s.server_id
    union all
    select 'database', d.id, d.name, v.name, 'postgres', v.id from databases d join servers v on v.id = d.server_id
    union all
    select 'configuration', c.id, c.name, coalesce(d.name, s.name) || ' on ' || v.name, '', v.id
    from backup_configurations c join servers v on v.id = c.server_id
      left join sites s on s.id = c.site_id left join databases d on d.id = c.database_id
    union all
    select 'worker', w.id, w.queue || ' on ' || w.connection, s.name, v.name, v.id
    from workers w join sites s on s.id = w.site_id join servers v on v.id = s.server_id
    union all
    select 'webhook', h.id, h.url, concat_ws(' · ', nullif(h.description, ''), s.name), v.name, v.id
    from webhooks h join sites s on s.id = h.site_id join servers v on v.id = s.server_id`);

const fold = (text: string) =>
  text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036F]/g, "")
    .toLowerCase();
const spaced = (text: string) => ` ${text.replaceAll(/[-._/:@,;|()[\]{}"'#]/g, " ")}`;

function rankOf({ id, name, detail, extra }: Thing, askedId: number | null, text: string) {
  const folded = fold(name);
  const whole = fold(`${name} ${detail} ${extra}`);
  const words = text.split(" ");
  if (id === askedId) return 0;
  if (text !== "" && !words.every((word) => whole.includes(word))) return null;
  if (!folded.includes(text))
    return words.every((word) =>
      spaced(whole).includes(` ${spaced(word).replaceAll(/^ +| +$/g, "")}`),
    )
      ? 5
      : 6;
  if (folded === text) return 1;
  if (folded.startsWith(text)) return 2;
  return spaced(folded).includes(spaced(text)) ? 3 : 4;
}

const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Returns the expected result: the keys of the hits, and the number of hits of each kind. */
function expected(things: readonly Thing[], text: string, visible: readonly number[] | null) {
  const counts: Record<string, number> = {};
  const best = toAsked(text, kinds).flatMap(({ kind, text: given, id: askedId }) => {
    const found = things
      .filter((thing) => thing.kind === kind && (visible?.includes(thing.server_id) ?? true))
      .flatMap((thing) => {
        const rank = rankOf(thing, askedId, fold(given));
        return rank === null ? [] : [{ ...thing, rank, length: Array.from(thing.name).length }];
      })
      .toSorted(compare);
    if (found.length > 0) counts[kind] = found.length;
    return found.slice(0, maxHitsOfKind);
  });
  const hits = best.toSorted(compare).slice(0, maxHits);
  return { hits: hits.map(({ kind, id, name, detail }) => ({ kind, id, name, detail })), counts };
}

type Ranked = Thing & { rank: number; length: number };
const compare = (a: Ranked, b: Ranked) =>
  a.rank - b.rank ||
  a.length - b.length ||
  compareBytes(a.name, b.name) ||
  compareBytes(a.kind, b.kind) ||
  a.id - b.id;

const asShown = ({ data, counts }: SearchResults) => ({
  hits: data.map(({ kind, id, name, detail }) => ({ kind, id, name, detail })),
  counts,
});

async function expectAlike(rounds: number): Promise<void> {
  const search = createSearchService(database.db);
  const things = await readThings();
  for (let round = 0; round < rounds; round++) {
    const text = Array.from({ length: 1 + below(3) }, () =>
      oneOf([makeText(3), makeText(3), "workers", "site", "webhook", "7", "#12"]),
    ).join(" ");
    const visible = oneOf([null, null, [1, 3], []]);
    const found = await search.search(text, { visible, canListTokens: false });
    expect(asShown(found), `${JSON.stringify(text)} with SEARCH_SEED=${seed}`).toEqual(
      expected(things, text, visible),
    );
  }
}

test("finds, counts and ranks like a scan of all names", () => expectAlike(150), 60_000);

const changes: readonly [what: string, statement: string][] = [
  ["a server", "update servers set name = $1 where id = 2"],
  ["a site", "update sites set name = $1 where id = 3"],
  ["a database", "update databases set name = $1 where id = 3"],
  ["a configuration", "update backup_configurations set name = $1 where id = 4"],
  ["a worker", "update workers set queue = $1 where id = 5"],
  ["a webhook", "update webhooks set url = $1 where id = 6"],
  ["a webhook's description", "update webhooks set description = $1 where id = 7"],
];

test.each(changes)("finds %s under its new name at once", async (_what, statement) => {
  const search = createSearchService(database.db);
  const found = async (text: string) =>
    (await search.search(text, { visible: null, canListTokens: false })).data.length;
  expect(await found("renämed")).toBe(0);
  await query(statement, ["Renamed Thing"]);
  expect(await found("renämed thing")).toBeGreaterThan(0);
  await query(statement, ["back"]);
  expect(await found("renamed")).toBe(0);
  await expectAlike(5);
});

test("finds what a site has on its new server, and nothing that was deleted", async () => {
  await query("update sites set server_id = 1 + server_id % 6 where id between 5 and 15");
  await query(
    `update backup_configurations c set server_id = s.server_id from sites s where s.id = c.site_id`,
  );
  await query("delete from workers where id < 20");
  await query("delete from webhooks where id < 20");
  await expectAlike(40);
});

test("a change of state does not rewrite names", async () => {
  const [before] = await query("select sum(xmin::text::bigint) as sum from search_names");
  await query("update workers set status = 'failed', queue = queue");
  await query("update backup_configurations set next_run_at = now(), name = name");
  await query("update webhooks set failing_since = now()");
  await query("update sites set worker_count = worker_count + 1");
  expect(await query("select sum(xmin::text::bigint) as sum from search_names")).toEqual([before]);
});
