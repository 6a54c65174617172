import { expect, test } from "vitest";
import { actionsOf } from "./actions.ts";
import { withRecent } from "./choose.ts";
import { type Entry, toPage } from "./entry.ts";
import { idEntries } from "./ids.ts";
import { arrange, nextPlace } from "./list.ts";
import { placeActions } from "./global.ts";
import { hitEntries } from "./hits.ts";
import { placeEntries, seenEntries } from "./places.ts";

const places = {
  servers: [{ id: 1, name: "web-1" }],
  sites: [{ id: 3, name: "shop.example.com" }],
  isWhole: true,
};
const seen = {
  configurations: [{ id: 2, name: "Orders, nightly" }],
  workers: [{ id: 12, connection: "redis", queue: "high,default", site_id: 3 }],
  webhooks: [{ id: 5, url: "https://ci.example.com/hook" }],
};
const destinations = [...placeEntries(places), ...seenEntries(seen, places.sites)];
const commands = Array.from({ length: 9 }, (_, index) => ({
  ...toPage("act", `Restart worker ${index + 1}`, "", `press ${index + 1}`),
  group: "page" as const,
}));

const find = (text: string, recent: readonly Entry[] = []) =>
  arrange(text, {
    answers: [...recent, ...idEntries(text, () => true)],
    offers: [...commands, ...destinations],
  });
const shown = (text: string, recent?: readonly Entry[]) =>
  find(text, recent).map(({ name, hits, total }) => ({
    name,
    total,
    labels: hits.map(({ entry }) => entry.label),
  }));

test("without a text lists recent destinations first, then the page, then all others", () => {
  const activity = destinations.find(({ label }) => label === "Activity");
  const recent = activity ? withRecent([], activity) : [];
  const groups = shown("", recent);
  expect(groups.map(({ name }) => name)).toEqual(["recent", "page", "go"]);
  expect(groups[0]?.labels).toEqual(["Activity"]);
  expect(groups[2]?.labels).not.toContain("Activity");
  expect(groups[2]?.labels[0]).toBe("Overview");
});

test("a truncated group shows how many there are", () => {
  expect(shown("")[0]).toMatchObject({ name: "page", total: 9, labels: { length: 6 } });
});

test("lists the group of the best match first", () => {
  expect(shown("restart")[0]?.name).toBe("page");
  expect(shown("shop webhooks")[0]).toMatchObject({
    name: "go",
    labels: ["shop.example.com webhooks"],
  });
  expect(shown("new webhook")[0]?.labels).toEqual(["New webhook on shop.example.com"]);
});

test("lists an id first and once, with the known name of its object", () => {
  const [ids, ...others] = find("worker 12");
  expect(ids).toMatchObject({ name: "id", total: 1 });
  expect(ids?.hits[0]?.entry).toMatchObject({
    label: "high,default on redis",
    detail: "Worker 12 · shop.example.com",
  });
  const keys = others.flatMap(({ hits }) => hits.map(({ entry }) => entry.key));
  expect(keys).not.toContain("/workers/12");
});

test("finds visited objects by their name, queue or URL", () => {
  expect(shown("nightly")[0]?.labels[0]).toBe("Orders, nightly");
  expect(shown("high default")[0]?.labels[0]).toBe("high,default on redis");
  expect(shown("ci hook")[0]?.labels[0]).toBe("https://ci.example.com/hook");
});

test("without a list of servers offers no timeline, and places by id", () => {
  const sites = [{ id: 3, name: "Site 3" }];
  const labels = placeEntries({ servers: [], sites, isWhole: false }).map(({ label }) => label);
  expect(labels).toContain("Site 3 webhooks");
  expect(labels).toContain("New worker on Site 3");
  expect(labels).not.toContain("Activity");
});

test("a page of a site offers a new worker there, and one of a server a new backup", () => {
  const labels = (here: Parameters<typeof placeActions>[0]) =>
    placeActions(here, places).map(({ label }) => label);
  expect(labels({ kind: "site", id: 3 })).toEqual([
    "New worker on shop.example.com",
    "New webhook on shop.example.com",
  ]);
  expect(labels({ kind: "server", id: 2 })).toEqual(["New backup on Server 2"]);
  expect(labels(null)).toEqual([]);
});

test("remembers five destinations, the newest first, without duplicates", () => {
  const chosen = ["a", "b", "c", "d", "e", "f", "b"].map((key) => toPage("site", key, "", key));
  // oxlint-disable-next-line unicorn/no-array-reduce -- the list changes with each choice
  const kept = chosen.reduce<readonly Entry[]>(withRecent, []);
  expect(kept.map(({ key }) => key)).toEqual(["b", "f", "e", "d", "c"]);
});

test.each([
  ["ArrowDown", 0, 1],
  ["ArrowDown", 19, 0],
  ["ArrowUp", 0, 19],
  ["Home", 7, 0],
  ["End", 7, 19],
  ["PageDown", 15, 19],
  ["PageUp", 3, 0],
  ["a", 3, null],
])("%s moves from %i to %s", (key, place, expected) => {
  expect(nextPlace(key, place, 20)).toBe(expected);
});

test("an empty list has no position to move to", () => {
  expect(nextPlace("ArrowDown", 0, 0)).toBeNull();
});

const worker = hitEntries(
  [
    {
      kind: "worker",
      id: 7,
      name: "emails on redis",
      detail: "shop.example.com",
      status: "failed",
      server_id: 1,
      site_id: 3,
    },
  ],
  null,
);

test("lists results of the service by kind, with their place, state and total number", () => {
  const [first] = arrange("emai", {
    answers: worker,
    offers: destinations,
    totals: { worker: 40 },
  });
  expect(first).toMatchObject({ name: "worker", label: "Workers", total: 40 });
  expect(first?.hits[0]?.entry).toMatchObject({
    detail: "Worker 7 · shop.example.com",
    status: "failed",
  });
});

test("offers both starting and stopping an unreachable worker", () => {
  const hit = { kind: "worker", id: 7, name: "emails on redis", server_id: 1, site_id: 3 } as const;
  const orders = (status: string) =>
    actionsOf({ ...hit, detail: "", status }).map(({ label }) => label);
  expect(orders("unreachable")).toEqual(["Open", "Restart", "Start", "Stop", "View log", "Edit"]);
  expect(orders("stopped")).toEqual(["Open", "Restart", "Start", "View log", "Edit"]);
});

test("disables actions that the service would refuse", () => {
  const [entry] = worker;
  const actions = entry?.actions?.() ?? [];
  expect(actions.map(({ label }) => label)).toEqual([
    "Open",
    "Restart",
    "Stop",
    "View log",
    "Edit",
  ]);
  expect(actions.filter(({ refusal }) => refusal !== undefined)).toEqual([]);
  const [removing] = hitEntries(
    [
      {
        kind: "worker",
        id: 7,
        name: "emails on redis",
        detail: "",
        status: "removing",
        server_id: 1,
        site_id: 3,
      },
    ],
    null,
  );
  expect(removing?.actions?.()[1]?.refusal).toBe("Can't restart while the status is removing.");
});

test("omits a kind for which the dashboard has no page", () => {
  const hit = { id: 1, name: "x", detail: "", status: null, server_id: null, site_id: null };
  for (const kind of ["robot", "constructor"])
    expect(hitEntries([{ kind, ...hit }], 1)).toEqual([]);
});

test("lists the results of a source as they are, however little they resemble the text", () => {
  const answer = toPage("restart", "Worker 77", "php artisan horizon", "/workers/77");
  expect(arrange("horizont", { answers: [answer], offers: destinations })[0]?.hits[0]?.entry).toBe(
    answer,
  );
});
