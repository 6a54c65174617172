import { createStore } from "../store.ts";

/** How many cover the page at the moment. */
export const openDialogs = createStore(0);

/**
 * A ref for a modal dialog that is open for as long as it is rendered. The native element brings the focus
 * trap, Escape, the inert page behind it, and puts the focus back where it was when it closes.
 */
export const openWhileMounted = (dialog: HTMLDialogElement) => {
  const open = () => {
    dialog.showModal();
    // A title that takes the focus is that of a long text, which begins there.
    if (dialog.querySelector("[autofocus]") === null)
      dialog.querySelector<HTMLElement>("h2[tabindex]")?.focus();
  };
  open();
  openDialogs.set(openDialogs.get() + 1);
  // Of several Escapes in a row Chromium lets a page refuse the first one only. Its owner, who is busy, has not closed it.
  dialog.addEventListener("close", open);
  return () => {
    dialog.removeEventListener("close", open);
    dialog.close();
    openDialogs.set(openDialogs.get() - 1);
    // What had the focus before may be gone by now, such as the row that was deleted: then it stays behind here.
    const { activeElement } = document;
    if (activeElement === document.body || dialog.contains(activeElement))
      document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  };
};
