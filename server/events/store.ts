// What happened and is to be told. An event is stored in the transaction of the change that it tells about.
import type { Connection } from "../store/database.ts";
import { events } from "../store/tables.ts";

export const eventTypes = [
  "backup.finished",
  "backup.failed",
  "backup.missed",
  "restore.finished",
  "restore.failed",
] as const;
export type EventType = (typeof eventTypes)[number];

export type NewEvent = {
  type: EventType;
  server_id: number;
  /** What a receiver gets; it holds no secret. */
  data: Record<string, unknown>;
};

export const recordEvent = async (tx: Connection, event: NewEvent): Promise<void> => {
  await tx.insert(events).values(event);
};
