// Runs a chosen entry, and records recent ones: in this tab's memory only, so that another user who connects cannot
// read them.
import { flushSync } from "react-dom";
import type { NavigateFunction } from "react-router";
import { sessions } from "../api/session.ts";
import { knownServers, knownSites } from "../app/place/known-places.ts";
import type { Entry } from "./entry.ts";
import { closePalette } from "./palette-state.ts";

const maxKept = 5;
let newestFirst: readonly Entry[] = [];

sessions.state.subscribe(() => {
  if (sessions.current() === null) newestFirst = [];
});

/** Adds an entry, newest first and without duplicates. */
export const withRecent = (before: readonly Entry[], entry: Entry): readonly Entry[] =>
  [{ ...entry, group: "recent" as const }, ...before.filter(({ key }) => key !== entry.key)].slice(
    0,
    maxKept,
  );

export const recent = { get: () => newestFirst };

const known = { site: knownSites, server: knownServers };

export function choose(entry: Entry, navigate: NavigateFunction): void {
  const { act, refusal } = entry;
  // A disabled entry stays and shows its reason, so that the user can go on searching.
  if (refusal !== undefined) return;
  // Synchronously, because the focus must be restored before the command's question takes it.
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
