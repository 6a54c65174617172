// What the palette shows for what is typed: groups, the one with the best match first.
import { type Entry, type GroupName, groupLabels } from "./entry.ts";
import { type Hit, rank, unmarked } from "./match.ts";

/** Of a group; its heading says how many there are, and another letter brings the rest nearer. */
const mostShown = { recent: 5, id: 6, page: 6, go: 12 } as const satisfies Record<
  GroupName,
  number
>;

export type Group = { name: GroupName; label: string; hits: readonly Hit[]; total: number };

export type Offer = {
  /** On this page, as the page orders them. */
  commands: readonly Entry[];
  destinations: readonly Entry[];
  recent: readonly Entry[];
  /** What the typed text means as an id. */
  ids: readonly Entry[];
};

/** A thing that comes twice is shown where it comes first, in the words of whoever knows more of it. */
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

export function arrange(text: string, { commands, destinations, recent, ids }: Offer): Group[] {
  const hits =
    text.trim() === ""
      ? [...recent, ...commands, ...destinations].map(unmarked)
      : [...ids.map(unmarked), ...rank([...commands, ...destinations], text)];
  const groups = new Map<GroupName, Hit[]>();
  for (const hit of once(hits)) {
    const { group } = hit.entry;
    groups.set(group, [...(groups.get(group) ?? []), hit]);
  }
  return [...groups].map(([name, all]) => ({
    name,
    label: groupLabels[name],
    hits: all.slice(0, mostShown[name]),
    total: all.length,
  }));
}
