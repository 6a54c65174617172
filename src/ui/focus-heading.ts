/** A ref for what a page turns into: its address stays the same, so the shell does not move the focus. */
export const focusHeading = (element: HTMLElement | null): void => {
  if (element !== null) document.querySelector<HTMLElement>("main h1")?.focus();
};
