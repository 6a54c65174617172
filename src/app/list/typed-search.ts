// The search of a list while it is typed. The router has no part in it: a navigation runs loaders and renders whatever
// follows the address, and with each letter that is most of what the letter costs.
import { startTransition, useContext, useEffect, useRef, useState } from "react";
import type { ListView } from "../../api/list-query.ts";
import { type DataQuery, queryClient } from "../../api/query.ts";
import { RouterContext } from "../router-context.ts";

type PagedView = ListView & { page: number };

export type TypedSearch = {
  /** What the list shows: what the address asked for when it was opened, with what was found since. */
  view: PagedView;
  /** What it was opened with; another object whenever it is opened anew. */
  opened: PagedView;
  search: (q: string) => void;
  /** Searches without waiting for another key. */
  settle: () => void;
};

/** Between the keys of whoever types fast there is less. */
const typingMs = 120;

/** Of the one who types; over when no key came for that long. */
type Pause = { timer: ReturnType<typeof setTimeout>; settle: () => void };

/**
 * The address follows when typing pauses, in place: who goes back leaves the list, and does not walk through the word.
 * @param opened what the route's loader read from the address
 */
export function useTypedSearch<Data>(
  opened: PagedView,
  pathOf: (view: ListView) => string,
  queryOf: (view: ListView) => DataQuery<Data>,
): TypedSearch {
  const router = useContext(RouterContext);
  const [found, setFound] = useState({ opened, view: opened });
  const view = found.opened === opened ? found.view : opened;
  const newest = useRef<string | null>(null);
  const pause = useRef<Pause | null>(null);

  const endPause = () => {
    clearTimeout(pause.current?.timer);
    pause.current = null;
  };
  useEffect(
    () => () => {
      // What was typed last has nowhere to go once the list was left.
      clearTimeout(pause.current?.timer);
      newest.current = null;
    },
    [],
  );

  const ask = async (q: string) => {
    newest.current = q;
    const wanted = { ...opened, page: 1, q };
    const query = { ...queryOf(wanted), retry: false, revalidateIfStale: true };
    try {
      await queryClient.ensureQueryData(query);
    } catch {
      // It fails again as any page does, with its error and the way to try again.
      if (newest.current === q) void router?.navigate(pathOf(wanted), { replace: true });
      return;
    }
    if (newest.current === q) startTransition(() => setFound({ opened, view: wanted }));
  };

  return {
    view,
    opened,
    // The service need not look for each letter of a word: of those that follow one another at once, the last counts.
    search(q) {
      const isFirst = pause.current === null;
      endPause();
      if (isFirst) void ask(q);
      const { href } = location;
      const settle = () => {
        endPause();
        // Who is on the way elsewhere has that in the address already.
        if (location.href !== href) return;
        history.replaceState(history.state, "", pathOf({ ...opened, page: 1, q }));
        if (newest.current !== q) void ask(q);
      };
      pause.current = { timer: setTimeout(settle, typingMs), settle };
    },
    settle: () => pause.current?.settle(),
  };
}
