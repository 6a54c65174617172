// The palette's field, which is there before what it finds is loaded: what both have in common.
import type { Opening } from "./opening.ts";

export type PaletteProps = Opening & {
  /** What is typed, which may have begun before this part was loaded. */
  text: string;
  onText: (text: string) => void;
};

export const searchWords = {
  "aria-label": "Search pages, actions and ids",
  placeholder: "Page, action or id",
};
