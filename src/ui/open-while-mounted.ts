/**
 * A ref for a modal dialog that is open for as long as it is rendered. The native element brings the focus
 * trap, Escape, the inert page behind it, and puts the focus back where it was when it closes.
 */
export const openWhileMounted = (dialog: HTMLDialogElement) => {
  dialog.showModal();
  return () => dialog.close();
};
