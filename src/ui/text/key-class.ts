// The classes of a keyboard key, in a text and in a tooltip.
export const keyClass =
  "inline-flex h-5 min-w-5 shrink-0 items-center justify-center rounded-sm border border-line bg-canvas px-1 font-sans text-xs whitespace-nowrap text-muted";
