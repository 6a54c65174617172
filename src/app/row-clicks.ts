// A click anywhere in a row opens what the row is of, as a click on its link does. One listener serves all tables.

/** What a click is meant for already; a label passes it on to its box. */
const controls = "a, button, input, select, textarea, label, summary, [role=button], [popover]";

/** Where a row leads; what leads nowhere is not a row to go to. */
export const linkOfRow = (row: Element): HTMLElement | null =>
  row.querySelector<HTMLElement>("a[href]");

const middleButton = 1;

/** The link that a click is meant for; null where it is for something else. */
function linkAt({ target, defaultPrevented }: MouseEvent): HTMLElement | null {
  if (defaultPrevented || !(target instanceof Element) || target.closest(controls)) return null;
  // Who has just selected text wants to copy it.
  if (getSelection()?.isCollapsed === false) return null;
  const row = target.closest("main tbody > tr");
  return row && linkOfRow(row);
}

function follow(event: MouseEvent): void {
  const isMiddle = event.type === "auxclick" && event.button === middleButton;
  const link = isMiddle || event.type === "click" ? linkAt(event) : null;
  if (link === null) return;
  event.preventDefault();
  // The browser knows what each of its keys does to a link. It has no click of the middle button that a page may make;
  // with Ctrl or ⌘ the left one is the same.
  const { ctrlKey, metaKey, shiftKey, altKey } = event;
  const isApple = navigator.userAgent.includes("Mac");
  link.dispatchEvent(
    new MouseEvent("click", {
      bubbles: true,
      cancelable: true,
      ctrlKey: ctrlKey || (isMiddle && !isApple),
      metaKey: metaKey || (isMiddle && isApple),
      shiftKey,
      altKey,
    }),
  );
}

/** Firefox selects a cell that is pressed with Ctrl, which then looks like text that somebody wants to copy. */
function keepUnselected(event: MouseEvent): void {
  if ((event.ctrlKey || event.metaKey) && linkAt(event) !== null) event.preventDefault();
}

/** @returns what ends it */
export function openRowsByClick(): () => void {
  const gone = new AbortController();
  document.addEventListener("mousedown", keepUnselected, { signal: gone.signal });
  for (const type of ["click", "auxclick"] as const)
    document.addEventListener(type, follow, { signal: gone.signal });
  return () => gone.abort();
}
