import { attempt } from "./kept-session.ts";

/** Connects this tab with the others of its origin; null where that is forbidden, as Firefox does together with storage. */
export const openChannel = (name: string): BroadcastChannel | null =>
  attempt(() => new BroadcastChannel(name));
