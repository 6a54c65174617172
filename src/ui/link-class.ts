/** A link beside or in a text. The name of a row or a card is known as one by its weight and place instead. */
export const linkClass =
  "text-accent underline decoration-current/40 underline-offset-4 hover:decoration-current";
