/**
 * A ref for what takes the place of a button that was pressed: the focus, which went with the button, goes on from here.
 * Whoever has moved it elsewhere meanwhile keeps it there.
 */
export const takeFocus = (element: HTMLElement | null): void => {
  if (document.activeElement === document.body) element?.focus();
};
