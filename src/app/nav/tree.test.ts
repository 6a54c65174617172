import { expect, test } from "vitest";
import type { OverviewServer } from "../../../contract/overview-parts.ts";
import { branchesOf, moveBy, placesOf, splitName, type Place } from "./tree.ts";

const server = (id: number, name: string, sites: readonly string[]): OverviewServer => ({
  id,
  name,
  health: "good",
  targets: sites.length,
  protected: sites.length,
  problems: 0,
  running: 0,
  next_run_at: null,
  sites: sites.map((site, index) => ({ id: id * 100 + index, name: site, health: "good" })),
});

const manySites = Array.from({ length: 12 }, (_, index) => `shop-${index}.example.com`);
const servers = [server(1, "web-1", manySites), server(2, "web-2", ["blog.example.com"])];
const options = { filter: "", opened: new Map<number, boolean>(), current: null };

const openIds = (change: Partial<Parameters<typeof branchesOf>[1]>) =>
  branchesOf(servers, { ...options, ...change })
    .filter(({ isOpen }) => isOpen)
    .map(({ server: { id } }) => id);

test("collapses many sites; the server of the current page is expanded", () => {
  expect(openIds({})).toEqual([]);
  expect(openIds({ current: { kind: "site", id: 200 } })).toEqual([2]);
  expect(openIds({ current: { kind: "server", id: 1 } })).toEqual([1]);
});

test("keeps what the user expanded or collapsed", () => {
  expect(openIds({ opened: new Map([[1, true]]) })).toEqual([1]);
  const current = { kind: "site", id: 200 } as const;
  expect(openIds({ opened: new Map([[2, false]]), current })).toEqual([]);
});

test("shows all of a few sites", () => {
  const few = [server(1, "web-1", ["shop.example.com"])];
  expect(branchesOf(few, options).map(({ isOpen }) => isOpen)).toEqual([true]);
});

test("a filter shows matching sites, and all sites of a matching server", () => {
  const found = branchesOf(servers, { ...options, filter: " BLOG" });
  expect(found.map(({ server: { name }, sites }) => [name, sites.length])).toEqual([["web-2", 1]]);
  expect(branchesOf(servers, { ...options, filter: "web-1" })[0]?.sites).toHaveLength(12);
  expect(branchesOf(servers, { ...options, filter: "nothing" })).toEqual([]);
});

test("arrow keys move through what is visible, and expand and collapse servers", () => {
  const branches = branchesOf(servers, { ...options, opened: new Map([[2, true]]) });
  const first: Place = { kind: "server", id: 1 };
  const second: Place = { kind: "server", id: 2 };
  const site: Place = { kind: "site", id: 200 };
  expect(placesOf(branches)).toEqual([first, second, site]);
  const move = (key: string, from: Place, isRightToLeft = false) =>
    moveBy(key, from, branches, isRightToLeft);
  expect(move("ArrowDown", first)).toEqual({ type: "focus", place: second });
  expect(move("ArrowUp", first)).toBeNull();
  expect(move("End", first)).toEqual({ type: "focus", place: site });
  expect(move("Home", site)).toEqual({ type: "focus", place: first });
  expect(move("ArrowRight", first)).toEqual({ type: "open", serverId: 1 });
  expect(move("ArrowRight", second)).toEqual({ type: "focus", place: site });
  expect(move("ArrowRight", site)).toBeNull();
  expect(move("ArrowLeft", site)).toEqual({ type: "focus", place: second });
  expect(move("ArrowLeft", second)).toEqual({ type: "close", serverId: 2 });
  expect(move("ArrowLeft", first, true)).toEqual({ type: "open", serverId: 1 });
  expect(move("x", first)).toBeNull();
});

test("truncates a name before its end", () => {
  expect(splitName("production-eu-central-1-application-07").join("")).toBe(
    "production-eu-central-1-application-07",
  );
  expect(splitName("production-eu-central-1-application-07")[1]).toBe("plication-07");
  expect(splitName("a")).toEqual(["a", ""]);
});
