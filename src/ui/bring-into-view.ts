/**
 * A ref for what answers a press and may have appeared where nobody looks, as below a long form. With `scroll-my-24`, what
 * sticks to the edges of the window doesn't cover it.
 */
export const bringIntoView = (element: HTMLElement | null): void =>
  element?.scrollIntoView({ block: "nearest" });
