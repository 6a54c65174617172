// Column types that tables share.
import { customType, timestamp } from "../drizzle.ts";
import { storableJson } from "../storable.ts";

/** Drizzle's own `jsonb` would send values that PostgreSQL rejects, such as the NUL of a tool's output. */
export const jsonb = customType<{ data: unknown; driverData: string }>({
  dataType: () => "jsonb",
  toDriver: storableJson,
});

export const moment = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
export const createdAt = moment("created_at").notNull().defaultNow();
