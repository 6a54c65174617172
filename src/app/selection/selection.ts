// The selected rows of a list. Each row subscribes separately, so that selecting it renders no other row.
import { createStore, type Store } from "../../store.ts";

export type Selection = Pick<Store<ReadonlySet<number>>, "get" | "subscribe"> & {
  /** Sets the present rows, in order. Rows that are gone are deselected. */
  show: (ids: readonly number[]) => void;
  /** @param isRange whether to include all rows between this one and the previously selected one */
  select: (id: number, isSelected: boolean, isRange: boolean) => void;
  /** Selects or deselects all rows. */
  selectAll: (isSelected: boolean) => void;
};

/** Returns the rows between two rows, in either order; only `to` where `from` is gone. */
function between(order: readonly number[], from: number | null, to: number): readonly number[] {
  const start = from === null ? -1 : order.indexOf(from);
  const end = order.indexOf(to);
  if (start < 0 || end < 0) return [to];
  return order.slice(Math.min(start, end), Math.max(start, end) + 1);
}

export function createSelection(): Selection {
  const { get, set, subscribe } = createStore<ReadonlySet<number>>(new Set());
  let order: readonly number[] = [];
  /** Start of a range. */
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
      // A range only adds rows, because some of them are usually selected already.
      set(isSelected || isRange ? get().union(new Set(range)) : get().difference(new Set(range)));
    },
    selectAll(isSelected) {
      anchor = null;
      set(new Set(isSelected ? order : []));
    },
  };
}
