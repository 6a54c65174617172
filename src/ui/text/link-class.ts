/**
 * The classes of a link in or next to a text. Names of rows and cards are recognizable by weight and position instead.
 */
export const linkClass =
  "text-accent underline decoration-current/40 underline-offset-4 hover:decoration-current";
