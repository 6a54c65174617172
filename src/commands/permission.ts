// Whether the current token may change anything. Buttons, links to forms, checkboxes, the palette and keys all check it
// here, so that pages need not.
import { createStore, useStore } from "../store.ts";

/** Why the current token may not change anything; undefined = it may, or that is not known yet. */
export const changeRefusal = createStore<string | undefined>(undefined);

/** @param isChange whether the control would change something */
export function useChangeRefusal(isChange: boolean): string | undefined {
  const refusal = useStore(changeRefusal);
  return isChange ? refusal : undefined;
}

/** Whether a path leads to a form, which is useless without permission to save. */
export const leadsToForm = (path: string): boolean => /\/(?:new|edit)(?:\?|$)/.test(path);
