// A click anywhere in a table row opens the row's link. One listener serves all tables.

/** Elements that handle a click themselves; a label forwards it to its checkbox. */
const controls = "a, button, input, select, textarea, label, summary, [role=button], [popover]";

/** Returns the link of a row; null where it has none. */
export const linkOfRow = (row: Element): HTMLElement | null =>
  row.querySelector<HTMLElement>("a[href]");

const middleButton = 1;

/** Returns the link that a click should follow; null where the click is for something else. */
function linkAt({ target, defaultPrevented }: MouseEvent): HTMLElement | null {
  if (defaultPrevented || !(target instanceof Element) || target.closest(controls)) return null;
  // A user who has just selected text wants to copy it.
  if (getSelection()?.isCollapsed === false) return null;
  const row = target.closest("main tbody > tr");
  return row && linkOfRow(row);
}

function follow(event: MouseEvent): void {
  const isMiddle = event.type === "auxclick" && event.button === middleButton;
  const link = isMiddle || event.type === "click" ? linkAt(event) : null;
  if (link === null) return;
  event.preventDefault();
  // The browser handles modifier keys on a link by itself. A page cannot synthesize a middle click; Ctrl or ⌘ with a
  // left click has the same effect.
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

/** Firefox selects a cell that is clicked with Ctrl, which would look like selected text. */
function keepUnselected(event: MouseEvent): void {
  if ((event.ctrlKey || event.metaKey) && linkAt(event) !== null) event.preventDefault();
}

/** @returns a function that removes the listeners */
export function openRowsByClick(): () => void {
  const gone = new AbortController();
  document.addEventListener("mousedown", keepUnselected, { signal: gone.signal });
  for (const type of ["click", "auxclick"] as const)
    document.addEventListener(type, follow, { signal: gone.signal });
  return () => gone.abort();
}
