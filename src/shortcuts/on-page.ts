// What the keys find on the page. The page itself is the one truth: a button that has a key says so, and the key
// presses the button, so both do the same and are refused for the same reason.

const fields =
  "input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select, [contenteditable]:not([contenteditable=false]), [role=textbox], [role=combobox], [role=listbox]";
const covers = "dialog:modal, [role=dialog], [role=alertdialog], [role=menu]";
const rowSelector = "main tbody > tr, main [data-row]";

/** The bar of a selection; its actions come before those of a single row. */
const barSelector = "[data-selection-bar]";

export const hasSelection = (page: Document): boolean => page.querySelector(barSelector) !== null;

export const isInField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(fields) !== null;

export const isCovered = (): boolean => document.querySelector(covers) !== null;

/** Where a row leads; what leads nowhere is not a row to go to. */
export const mainLink = (row: Element): HTMLElement | null =>
  row.querySelector<HTMLElement>("a[href]");

export const rowsOf = (page: Document): Element[] =>
  [...page.querySelectorAll(rowSelector)].filter((row) => mainLink(row) !== null);

/** The row that holds the focus. */
export const currentRow = (page: Document): Element | null =>
  page.activeElement?.closest(rowSelector) ?? null;

export const boxOf = (row: Element): HTMLInputElement | null =>
  row.querySelector<HTMLInputElement>("td:first-child input[type=checkbox]");

const withKeys = (scope: Element | null, isOwn: (element: Element) => boolean): HTMLElement[] =>
  [...(scope?.querySelectorAll<HTMLElement>("[aria-keyshortcuts]") ?? [])].filter(
    (element) => isOwn(element) && element.checkVisibility(),
  );

export const keyOf = (element: Element): string => element.getAttribute("aria-keyshortcuts") ?? "";

/** Everything that has a key, from near to far: of the selection, of a row, of the page. */
export function keyed(page: Document, row: Element | null) {
  return {
    selection: withKeys(page.querySelector(barSelector), () => true),
    row: withKeys(row, () => true),
    page: withKeys(
      page.querySelector("main"),
      (element) => element.closest(`${rowSelector}, ${barSelector}`) === null,
    ),
  };
}
