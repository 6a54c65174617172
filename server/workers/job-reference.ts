// What the jobs of a worker carry.
import type { SiteRow } from "../inventory/store.ts";
import type { WorkerRow } from "./store.ts";

export const jobReference = ({ id, transition }: WorkerRow, { serverId }: SiteRow) => ({
  id,
  transition,
  server_id: serverId,
});
