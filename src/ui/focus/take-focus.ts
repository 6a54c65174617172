/**
 * A ref for the replacement of a button that was pressed: takes the focus, which was lost with the button, unless the
 * user has moved it meanwhile.
 */
export const takeFocus = (element: HTMLElement | null): void => {
  if (document.activeElement === document.body) element?.focus();
};
