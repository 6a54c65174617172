// Listens for keys and does what they ask for.
import { dismissToast, toast } from "../app/toasts.ts";
import { type Order, orderOf, rowAfter } from "./key-order.ts";
import { keysDialog } from "./keys-dialog.ts";
import {
  boxOf,
  currentRow,
  hasSelection,
  isCovered,
  isInField,
  keyed,
  keyOf,
  mainLink,
  rowsOf,
} from "./on-page.ts";
import { singleKeys } from "./single-keys.ts";

/** Of the refusals, the newest is enough. */
let lastRefusal: number | null = null;

function press(key: string): boolean {
  const { selection, row, page } = keyed(document, currentRow(document));
  // The bar is on its way: what is meant for all that are selected must not fall on a single row.
  if (selection.length === 0 && hasSelection(document)) return false;
  const button = [...selection, ...row, ...page].find((element) => keyOf(element) === key);
  if (button === undefined) return false;
  const { reason } = button.dataset;
  if (reason === undefined) button.click();
  else {
    if (lastRefusal !== null) dismissToast(lastRefusal);
    lastRefusal = toast.failure(reason);
  }
  return true;
}

/** As a click on the row's own box, so that a mouse and a key select alike. */
function select(isRange: boolean): boolean {
  const row = currentRow(document);
  const box = row === null ? null : boxOf(row);
  return (
    box?.dispatchEvent(
      new MouseEvent("click", { bubbles: true, cancelable: true, shiftKey: isRange }),
    ) ?? false
  );
}

/** @returns the function that stops it */
export function attachKeys(): () => void {
  /** Where the last move led, so that the next one goes on from there although the row is gone. */
  let last = { pathname: "", index: 0 };

  function move(step: 1 | -1): boolean {
    const rows = rowsOf(document);
    const row = currentRow(document);
    const { pathname } = location;
    const index = rowAfter(
      rows.length,
      row === null ? -1 : rows.indexOf(row),
      last.pathname === pathname ? last.index : null,
      step,
    );
    const next = rows[index];
    if (next === undefined) return false;
    last = { pathname, index };
    mainLink(next)?.focus();
    return true;
  }

  function follow(order: Order): boolean {
    switch (order.kind) {
      case "move":
        return move(order.step);
      case "select":
        return select(order.isRange);
      case "help":
        keysDialog.set(true);
        return true;
      case "press":
        return press(order.key);
    }
  }

  const listen = (event: KeyboardEvent) => {
    const order = orderOf(event, {
      isAltGraph: event.getModifierState("AltGraph"),
      isInField: isInField(event.target),
      isCovered: isCovered(),
      hasSingleKeys: singleKeys.get(),
    });
    if (order !== null && follow(order)) event.preventDefault();
  };
  document.addEventListener("keydown", listen);
  return () => document.removeEventListener("keydown", listen);
}
