// Searches a list while the user types. The router is bypassed: a navigation runs loaders and renders everything that
// follows the address, which would be most of the cost of each letter.
import { startTransition, useContext, useEffect, useRef, useState } from "react";
import type { ListView } from "../../api/list-query.ts";
import { type DataQuery, queryClient } from "../../api/query.ts";
import { RouterContext } from "../routing/router-context.ts";

type PagedView = ListView & { page: number };

export type TypedSearch = {
  /** What the list shows: the view of the address when it was opened, with later searches. */
  view: PagedView;
  /** The view that the list was opened with; a new object for each time. */
  opened: PagedView;
  search: (q: string) => void;
  /** Searches without waiting for a pause. */
  settle: () => void;
};

/** Longer than the time between the keys of a fast typist. */
const typingMs = 120;

/** The wait for a pause in typing. */
type Pause = { timer: ReturnType<typeof setTimeout>; settle: () => void };

/**
 * The address is updated when typing pauses, without a new history entry: Back leaves the list instead of going through
 * the word.
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
      // A search that is still typed when the list is left is dropped.
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
      // Repeats the search as a navigation, which fails like any page, with an error and a retry.
      if (newest.current === q) void router?.navigate(pathOf(wanted), { replace: true });
      return;
    }
    if (newest.current === q) startTransition(() => setFound({ opened, view: wanted }));
  };

  return {
    view,
    opened,
    // Searches for the first letter at once, and then for the last of the letters that follow in quick succession.
    search(q) {
      const isFirst = pause.current === null;
      endPause();
      if (isFirst) void ask(q);
      const { href } = location;
      const settle = () => {
        endPause();
        // A navigation that has begun has changed the address already.
        if (location.href !== href) return;
        history.replaceState(history.state, "", pathOf({ ...opened, page: 1, q }));
        if (newest.current !== q) void ask(q);
      };
      pause.current = { timer: setTimeout(settle, typingMs), settle };
    },
    settle: () => pause.current?.settle(),
  };
}
