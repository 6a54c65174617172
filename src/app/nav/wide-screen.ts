import type { Store } from "../../store.ts";

/** The same as `lg` in the styles. */
const query = () => matchMedia("(width >= 64rem)");

/** Whether there is room for the sidebar. */
export const wideScreen: Pick<Store<boolean>, "get" | "subscribe"> = {
  get: () => query().matches,
  subscribe: (listener) => {
    const watched = query();
    watched.addEventListener("change", listener);
    return () => watched.removeEventListener("change", listener);
  },
};
