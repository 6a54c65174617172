import { createStore } from "../../store.ts";

/** Number of open modal dialogs. */
export const openDialogs = createStore(0);

/**
 * A ref for a modal dialog that is open while it is rendered. The native element provides the focus trap, Escape, and
 * the inert page behind it, and restores the focus when it closes.
 */
export const openWhileMounted = (dialog: HTMLDialogElement) => {
  const open = () => {
    dialog.showModal();
    // A focusable title belongs to a long text, which is read from there.
    if (dialog.querySelector("[autofocus]") === null)
      dialog.querySelector<HTMLElement>("h2[tabindex]")?.focus();
  };
  open();
  openDialogs.set(openDialogs.get() + 1);
  // Of several Escapes in a row, Chromium lets a page prevent only the first; the dialog is opened again until its
  // owner closes it.
  dialog.addEventListener("close", open);
  return () => {
    dialog.removeEventListener("close", open);
    dialog.close();
    openDialogs.set(openDialogs.get() - 1);
    // The previously focused element may be gone, such as a deleted row; the focus would then stay in the closed
    // dialog.
    const { activeElement } = document;
    if (activeElement === document.body || dialog.contains(activeElement))
      document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  };
};
