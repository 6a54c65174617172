/** A ref for the new content of a page whose URL stays the same, so that the shell does not move the focus. */
export const focusHeading = (element: HTMLElement | null): void => {
  if (element !== null) document.querySelector<HTMLElement>("main h1")?.focus();
};
