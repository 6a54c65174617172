/**
 * A ref for an element that may disappear, such as a row that a poll removes: if it had the focus, the page's heading
 * takes it, so that keyboard users do not start again from the top of the document.
 */
export const handFocusOn = (element: HTMLElement | null) => () => {
  if (element?.contains(document.activeElement) !== true) return;
  document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
};
