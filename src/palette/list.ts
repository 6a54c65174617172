// The list of results for a text, in groups sorted by their best match, and its navigation keys.
import { type Found, type GroupName, groupLabels } from "./entry.ts";
import { marked, strength } from "./fold.ts";
import { type Hit, rank } from "./match.ts";

/** Maximum number of entries shown by group. The heading has the total, and more letters narrow it down. */
const maxShown = {
  recent: 5,
  server: 8,
  site: 8,
  database: 8,
  configuration: 8,
  worker: 8,
  webhook: 8,
  token: 8,
  id: 6,
  page: 6,
  action: 20,
  go: 12,
} as const satisfies Record<GroupName, number>;

export type Group = { name: GroupName; label: string; hits: readonly Hit[]; total: number };

/** Removes duplicates: the first position is kept, with the entry that has more details. */
function once(hits: readonly Hit[]): Hit[] {
  const kept = new Map<string, Hit>();
  for (const hit of hits) {
    const before = kept.get(hit.entry.key);
    if (before === undefined) kept.set(hit.entry.key, hit);
    else if (before.entry.detail === "")
      kept.set(hit.entry.key, { ...hit, entry: { ...hit.entry, group: before.entry.group } });
  }
  return [...kept.values()];
}

export function arrange(text: string, { answers = [], offers = [], totals = {} }: Found): Group[] {
  const isAsked = text.trim() !== "";
  const asked = isAsked ? rank(offers, text) : offers.map((entry) => marked(entry, ""));
  const groups = new Map<GroupName, Hit[]>();
  for (const hit of once([...answers.map((entry) => marked(entry, text)), ...asked])) {
    const { group } = hit.entry;
    groups.set(group, [...(groups.get(group) ?? []), hit]);
  }
  const best = (hits: readonly Hit[]) =>
    Math.min(...hits.map(({ entry }) => strength(entry, text)));
  const inOrder = isAsked
    ? [...groups].sort(([, some], [, others]) => best(some) - best(others))
    : [...groups];
  return inOrder.map(([name, all]) => ({
    name,
    label: groupLabels[name],
    hits: all.slice(0, maxShown[name]),
    total: Math.max(all.length, totals[name] ?? 0),
  }));
}

const pageStep = 8;

/** @returns the index to move to; null for other keys */
export function nextPlace(key: string, place: number, count: number): number | null {
  if (count === 0) return null;
  switch (key) {
    case "ArrowDown":
      return (place + 1) % count;
    case "ArrowUp":
      return (place + count - 1) % count;
    case "PageDown":
      return Math.min(place + pageStep, count - 1);
    case "PageUp":
      return Math.max(place - pageStep, 0);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
