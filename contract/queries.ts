// What requests may ask for in their address, beside what every list takes. The dashboard only sends it: see
// `served-operations.ts`.
import * as z from "zod/mini";
import { activityKinds } from "./activity.ts";
import { maxHold } from "./backups/backup.ts";
import { frequency } from "./backups/cron.ts";
import { maxSearchText } from "./search.ts";
import { eventParameter } from "./webhooks/delivery.ts";
import { moment, storableText } from "./inputs.ts";
import { filterQuery } from "./paging.ts";

const idText = z.string().check(z.regex(/^[1-9]\d{0,14}$/, { error: "This must be an id." }));

export const activityQuery = z.object({
  server: z.optional(idText),
  site: z.optional(idText),
  kind: z.optional(z.enum(activityKinds)),
  /** The name of who did it, as `actors` has it. */
  actor: z.optional(storableText()),
  /** Words, each of which an entry has at the beginning of one of its own. */
  search: z.optional(storableText().check(z.maxLength(200))),
  /** From this moment on. */
  from: z.optional(moment),
  /** Until before this moment. */
  to: z.optional(moment),
  /** Entries older than this one, newest first. */
  before: z.optional(idText),
  /** Entries newer than this one, newest first. */
  after: z.optional(idText),
});

export const searchQuery = z.object({
  /** Words, each of which a hit has in its name or its place, or an id: "7", "worker 7". Empty finds nothing. */
  q: z.optional(storableText().check(z.trim(), z.maxLength(maxSearchText))),
});

/** How a worker's log is asked for: its last `lines` (1 to 1000), or what follows byte `offset`. */
export const workerLogQuery = z.object({
  lines: z.optional(z.string().check(z.regex(/^(?:[1-9]\d{0,2}|1000)$/))),
  offset: z.optional(z.string().check(z.regex(/^\d{1,15}$/))),
});

/** As of every list that can be filtered, and by event. */
export const deliveriesQuery = z.extend(filterQuery, {
  /** Events, separated by commas. */
  [eventParameter]: z.optional(z.string()),
});

/** What becomes of the stored files. */
export const deleteBackupConfigurationQuery = z.object({ files: z.optional(z.enum(["remove"])) });

const countText = z.string().check(
  z.refine((text) => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= maxHold, {
    error: `This must be a number from 1 to ${maxHold}.`,
  }),
);

/** A schedule and retention to try; absent = as the configuration has them. `hold` brings all rules: a period that is left out keeps none. */
export const storageForecastQuery = z.object({
  frequency: z.optional(frequency),
  hold: z.optional(countText),
  hourly: z.optional(countText),
  daily: z.optional(countText),
  weekly: z.optional(countText),
  monthly: z.optional(countText),
  yearly: z.optional(countText),
});
