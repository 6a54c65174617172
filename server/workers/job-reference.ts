// Builds the data of a worker's jobs.
import type { SiteRow } from "../inventory/store.ts";
import type { WorkerRow } from "./store.ts";

export const jobReference = ({ id, transition }: WorkerRow, { serverId }: SiteRow) => ({
  id,
  transition,
  server_id: serverId,
});
