import { attempt } from "./kept-session.ts";

/** Opens a channel to the other tabs of this origin; null where that is forbidden, as in Firefox along with storage. */
export const openChannel = (name: string): BroadcastChannel | null =>
  attempt(() => new BroadcastChannel(name));
