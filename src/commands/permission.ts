// Whether the token in use may change anything. Buttons, links to forms, checkboxes, the palette and keys all ask here, so
// that no page has to.
import { createStore, useStore } from "../store.ts";

/** Why nothing can be changed with the token in use; undefined = it may, or nobody knows yet. */
export const changeRefusal = createStore<string | undefined>(undefined);

/** @param isChange whether what asks would change something */
export function useChangeRefusal(isChange: boolean): string | undefined {
  const refusal = useStore(changeRefusal);
  return isChange ? refusal : undefined;
}

/** Forms have addresses of their own, and nothing on them is of use to who cannot save. */
export const leadsToForm = (path: string): boolean => /\/(?:new|edit)(?:\?|$)/.test(path);
