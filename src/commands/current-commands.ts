import { type Command, registered } from "./registry.ts";

function byPlace({ element: one }: Command, { element: other }: Command) {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  const isBefore = one.compareDocumentPosition(other) & one.DOCUMENT_POSITION_FOLLOWING;
  return isBefore ? -1 : 1;
}

/** Returns the visible commands in the order of the page, followed by those without a button. */
export const currentCommands = (): Command[] =>
  [...registered].filter(({ element }) => element?.checkVisibility() ?? true).sort(byPlace);
