// What happens when an entry is chosen, and where that led last: in this tab's memory only, so that the next one to
// connect has nothing to read here.
import { flushSync } from "react-dom";
import type { NavigateFunction } from "react-router";
import { sessions } from "../api/session.ts";
import { knownServers, knownSites } from "../app/known-places.ts";
import type { Entry } from "./entry.ts";
import { closePalette } from "./palette-state.ts";

const maxKept = 5;
let newestFirst: readonly Entry[] = [];

sessions.state.subscribe(() => {
  if (sessions.current() === null) newestFirst = [];
});

/** The newest first, none twice. */
export const withRecent = (before: readonly Entry[], entry: Entry): readonly Entry[] =>
  [{ ...entry, group: "recent" as const }, ...before.filter(({ key }) => key !== entry.key)].slice(
    0,
    maxKept,
  );

export const recent = { get: () => newestFirst };

const known = { site: knownSites, server: knownServers };

export function choose(entry: Entry, navigate: NavigateFunction): void {
  const { act, refusal } = entry;
  // It stays in place and says why; whoever presses Enter on it may go on looking.
  if (refusal !== undefined) return;
  // At once, for the focus must be back before a question that the command asks takes it.
  flushSync(closePalette);
  if (act.kind === "run") return act.run();
  if (act.opens)
    known[act.opens.kind].remember({
      address: sessions.current()?.address ?? "",
      id: act.opens.id,
    });
  newestFirst = withRecent(newestFirst, entry);
  void navigate(act.to);
}
