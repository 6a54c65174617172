/**
 * A ref for the response to a click, which may appear out of sight, as below a long form. With `scroll-my-24`, sticky
 * elements at the edges of the window do not cover it.
 */
export const bringIntoView = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: "nearest" });
