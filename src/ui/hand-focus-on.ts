/**
 * A ref for what may vanish by itself, such as a row that a poll removes: when it held the focus, the
 * page's heading takes it, so that the keyboard does not start again from the top of the document.
 */
export const handFocusOn = (element: HTMLElement | null) => () => {
  if (element?.contains(document.activeElement) !== true) return;
  document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
};
