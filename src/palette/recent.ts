// Where the palette led last. In this tab's memory only: the next one to connect has nothing to read here.
import { sessions } from "../api/session.ts";
import type { Entry } from "./entry.ts";

const mostKept = 5;
let newestFirst: readonly Entry[] = [];

sessions.state.subscribe(() => {
  if (sessions.current() === null) newestFirst = [];
});

/** The newest first, none twice. */
export const withRecent = (before: readonly Entry[], entry: Entry): readonly Entry[] =>
  [{ ...entry, group: "recent" as const }, ...before.filter(({ key }) => key !== entry.key)].slice(
    0,
    mostKept,
  );

export const recent = {
  get: () => newestFirst,
  add: (entry: Entry) => {
    newestFirst = withRecent(newestFirst, entry);
  },
};
