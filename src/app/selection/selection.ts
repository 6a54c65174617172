// Which rows of a list are selected. A row asks for itself alone, so that selecting it renders no other.
import { createStore, type Store } from "../../store.ts";

export type Selection = Pick<Store<ReadonlySet<number>>, "get" | "subscribe"> & {
  /** Tells which rows there are now, in their order. What is gone leaves the selection. */
  show: (ids: readonly number[]) => void;
  /** @param isRange also everything between it and the row that was selected before it */
  select: (id: number, isSelected: boolean, isRange: boolean) => void;
  /** All that there are, or none. */
  selectAll: (isSelected: boolean) => void;
};

/** The rows from one to another, in whichever order they stand; the other alone where the one is gone. */
function between(order: readonly number[], from: number | null, to: number): readonly number[] {
  const start = from === null ? -1 : order.indexOf(from);
  const end = order.indexOf(to);
  if (start < 0 || end < 0) return [to];
  return order.slice(Math.min(start, end), Math.max(start, end) + 1);
}

export function createSelection(): Selection {
  const { get, set, subscribe } = createStore<ReadonlySet<number>>(new Set());
  let order: readonly number[] = [];
  /** Where a range begins. */
  let anchor: number | null = null;
  return {
    get,
    subscribe,
    show(ids) {
      order = ids;
      const there = new Set(ids);
      if (!get().isSubsetOf(there)) set(get().intersection(there));
    },
    select(id, isSelected, isRange) {
      const range = isRange ? between(order, anchor, id) : [id];
      anchor = id;
      // A range only ever adds: of its rows, some are mostly selected already.
      set(isSelected || isRange ? get().union(new Set(range)) : get().difference(new Set(range)));
    },
    selectAll(isSelected) {
      anchor = null;
      set(new Set(isSelected ? order : []));
    },
  };
}
