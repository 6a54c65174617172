// The rows of the page's lists, as the focus walks them. Where the focus is, only the page itself knows.
import { linkOfRow } from "../app/row-clicks.ts";

const rowSelector = "main tbody > tr, main [data-row]";

export const rows = (): Element[] =>
  [...document.querySelectorAll(rowSelector)].filter((row) => linkOfRow(row) !== null);

/** The row that holds the focus. */
export const currentRow = (): Element | null =>
  document.activeElement?.closest(rowSelector) ?? null;

export const isInRow = (element: Element): boolean => element.closest(rowSelector) !== null;

export const boxOf = (row: Element): HTMLInputElement | null =>
  row.querySelector<HTMLInputElement>("td:first-child input[type=checkbox]");

/**
 * The row to go to, by its place in the list; -1 where there is none.
 * @param current where the focus is, -1 = in no row
 * @param last where it was before, should the row be gone or left; null = it was in none
 */
export function rowAfter(
  count: number,
  current: number,
  last: number | null,
  step: 1 | -1,
): number {
  const wanted = current >= 0 ? current + step : (last ?? 0);
  return Math.max(Math.min(wanted, count - 1), Math.min(0, count - 1));
}

/** Where the last move led, so that the next one goes on from there although the row is gone. */
let last = { pathname: "", index: 0 };

/** @returns false = there is no row to go to */
export function moveRow(step: 1 | -1): boolean {
  const all = rows();
  const row = currentRow();
  const { pathname } = location;
  const index = rowAfter(
    all.length,
    row === null ? -1 : all.indexOf(row),
    last.pathname === pathname ? last.index : null,
    step,
  );
  const next = all[index];
  if (next === undefined) return false;
  last = { pathname, index };
  linkOfRow(next)?.focus();
  return true;
}

/** As a click on the row's own box, so that a mouse and a key select alike. */
export function selectRow(isRange: boolean): boolean {
  const row = currentRow();
  const box = row === null ? null : boxOf(row);
  return (
    box?.dispatchEvent(
      new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: isRange }),
    ) ?? false
  );
}
