import { expect, test } from "vitest";
import { paths, readFrom, readId } from "./paths.ts";

test("keeps the URLs that users have bookmarked", () => {
  expect([
    paths.home(),
    paths.home(2),
    paths.connect(),
    paths.connect("/"),
    paths.connect("/sites/1/workers?page=2"),
    paths.workers(3),
    paths.workers(3, { page: 2 }),
    paths.workers(3, { status: "failed,crash_looping", q: "a b", sort: "", page: 2 }),
    paths.newWorker(3),
    paths.newWorker(3, 7),
    paths.worker(7),
    paths.editWorker(7),
    paths.webhooks(3),
    paths.webhook(5),
    paths.webhook(5, { delivery: 9 }),
    paths.notifications(3),
    paths.activity({ site: 3, kind: "worker" }),
    paths.settings(),
    paths.settings(2),
    paths.newToken(),
    paths.inventory(),
    paths.newEntry("storage-providers"),
    paths.editEntry("sites", 3),
  ]).toEqual([
    "/",
    "/?page=2",
    "/connect",
    "/connect",
    "/connect?from=%2Fsites%2F1%2Fworkers%3Fpage%3D2",
    "/sites/3/workers",
    "/sites/3/workers?page=2",
    "/sites/3/workers?status=failed%2Ccrash_looping&q=a+b&page=2",
    "/sites/3/workers/new",
    "/sites/3/workers/new?like=7",
    "/workers/7",
    "/workers/7/edit",
    "/sites/3/webhooks",
    "/webhooks/5",
    "/webhooks/5?delivery=9",
    "/sites/3/notifications",
    "/activity?site=3&kind=worker",
    "/settings",
    "/settings?page=2",
    "/settings/tokens/new",
    "/settings/inventory",
    "/settings/inventory/storage-providers/new",
    "/settings/inventory/sites/3/edit",
  ]);
});

test.each([
  ["/workers/7?x=1", "/workers/7?x=1"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["https://evil.example", "/"],
  ["", "/"],
])("the return path after connecting stays on this origin: %s", (from, expected) => {
  expect(readFrom(new URLSearchParams({ from }))).toBe(expected);
});

test.each([
  ["7", 7],
  ["0", null],
  ["-1", null],
  ["7x", null],
  ["9007199254740991", 9_007_199_254_740_991],
  ["9007199254740993", null],
  ["", null],
  [undefined, null],
])("parses an id in a URL: %s", (text, expected) => {
  expect(readId(text)).toBe(expected);
});
