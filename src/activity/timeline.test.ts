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

test("what is new comes on top, and what is older stays to be asked for", () => {
  const shown = withNewer(timeline([5, 4], 4), timeline([7, 6]));
  expect([idsOf(shown), shown.next]).toEqual([[7, 6, 5, 4], 4]);
});

test("newer entries that come twice are shown once, and where there are none nothing changes", () => {
  const shown = withNewer(timeline([5]), timeline([7, 6]));
  expect(idsOf(withNewer(shown, timeline([8, 7, 6])))).toEqual([8, 7, 6, 5]);
  expect(withNewer(shown, timeline([]))).toBe(shown);
});

test("more newer entries than one response holds begin the list anew, so that nothing is missing in between", () => {
  const newer = timeline([99, 98], 98);
  expect(withNewer(timeline([5]), newer)).toEqual(newer);
});

test("the first entries of an empty timeline are newer", () => {
  expect(idsOf(withNewer(timeline([]), timeline([2, 1])))).toEqual([2, 1]);
});

test("what is older goes below, until there is no more", () => {
  const shown = withOlder(timeline([9, 8], 8), timeline([7, 6]), 8);
  expect([idsOf(shown), shown.next]).toEqual([[9, 8, 7, 6], null]);
});

test("an answer that comes after the list began anew is not put below another", () => {
  const shown = timeline([99, 98], 98);
  expect(withOlder(shown, timeline([7, 6]), 8)).toBe(shown);
});
