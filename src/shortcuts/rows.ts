// Moves the focus among the rows of the page's lists. The document is the only source of the current row.
import { linkOfRow } from "../app/list/row-clicks.ts";

const rowSelector = "main tbody > tr, main [data-row]";

export const rows = (): Element[] =>
  [...document.querySelectorAll(rowSelector)].filter((row) => linkOfRow(row) !== null);

/** Returns the row that contains the focus. */
export const currentRow = (): Element | null =>
  document.activeElement?.closest(rowSelector) ?? null;

export const isInRow = (element: Element): boolean => element.closest(rowSelector) !== null;

export const boxOf = (row: Element): HTMLInputElement | null =>
  row.querySelector<HTMLInputElement>("td:first-child input[type=checkbox]");

/**
 * Returns the index of the row to go to; -1 where there is none.
 * @param current index of the focused row, -1 = none
 * @param last index of the previous row, in case it is gone or left; null = none
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

/** The result of the last move, so that the next one continues from there even if the row is gone. */
let last = { pathname: "", index: 0 };

/** @returns false where there is no row to go to */
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

/** Clicks the checkbox of the current row, so that mouse and keyboard select alike. */
export function selectRow(isRange: boolean): boolean {
  const row = currentRow();
  const box = row === null ? null : boxOf(row);
  return (
    box?.dispatchEvent(
      new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: isRange }),
    ) ?? false
  );
}
