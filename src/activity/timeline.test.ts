import { expect, test } from "vitest";
import type { ActivityEntry } from "../../contract/activity.ts";
import { withNewer, withOlder } from "./timeline.ts";

const entry = (id: number): ActivityEntry => ({
  id,
  at: "2026-01-31T09:30:00.000000Z",
  kind: "backup",
  action: "finished",
  outcome: "good",
  actor: { type: "service", name: "Quarterdeck" },
  object: { type: "backup", id: 1, name: "Shop" },
  server_id: 1,
  site_id: null,
  detail: null,
});
const timeline = (ids: number[], next: number | null = null) => ({
  data: ids.map(entry),
  next,
});
const idsOf = ({ data }: { data: readonly ActivityEntry[] }) => data.map(({ id }) => id);

test("puts new entries on top, and keeps the position for older ones", () => {
  const shown = withNewer(timeline([5, 4], 4), timeline([7, 6]));
  expect([idsOf(shown), shown.next]).toEqual([[7, 6, 5, 4], 4]);
});

test("shows duplicate newer entries once, and changes nothing without any", () => {
  const shown = withNewer(timeline([5]), timeline([7, 6]));
  expect(idsOf(withNewer(shown, timeline([8, 7, 6])))).toEqual([8, 7, 6, 5]);
  expect(withNewer(shown, timeline([]))).toBe(shown);
});

test("starts the list again when there are more newer entries than one response contains, so that none is missing", () => {
  const newer = timeline([99, 98], 98);
  expect(withNewer(timeline([5]), newer)).toEqual(newer);
});

test("treats the first entries of an empty timeline as newer", () => {
  expect(idsOf(withNewer(timeline([]), timeline([2, 1])))).toEqual([2, 1]);
});

test("appends older entries, until there are no more", () => {
  const shown = withOlder(timeline([9, 8], 8), timeline([7, 6]), 8);
  expect([idsOf(shown), shown.next]).toEqual([[9, 8, 7, 6], null]);
});

test("ignores a late response with older entries after the list was restarted", () => {
  const shown = timeline([99, 98], 98);
  expect(withOlder(shown, timeline([7, 6]), 8)).toBe(shown);
});
