// Schemas of queries, apart from those of every list. The dashboard only sends them; see `served-operations.ts`.
import * as z from "zod/mini";
import { activityKinds } from "./activity.ts";
import { maxHold } from "./backups/backup.ts";
import { frequency } from "./backups/cron.ts";
import { maxSearchText } from "./search.ts";
import { eventParameter } from "./webhooks/delivery.ts";
import { moment, storableText } from "./inputs.ts";
import { filterQuery } from "./paging.ts";

/** @param pattern of integers from `min` to `max` */
const integerText = (pattern: RegExp, min: number, max: number) =>
  z.string().check(z.regex(pattern, { error: `This must be an integer from ${min} to ${max}.` }));

const idText = integerText(/^[1-9]\d{0,14}$/, 1, 999_999_999_999_999);

export const activityQuery = z.object({
  server: z.optional(idText),
  site: z.optional(idText),
  kind: z.optional(z.enum(activityKinds)),
  /** Name of an actor, as in `actors`. */
  actor: z.optional(storableText()),
  /** Words; each must be the beginning of a word of the entry. */
  search: z.optional(storableText().check(z.maxLength(200))),
  /** Entries at or after this moment. */
  from: z.optional(moment),
  /** Entries before this moment. */
  to: z.optional(moment),
  /** Entries older than this id, newest first. */
  before: z.optional(idText),
  /** Entries newer than this id, newest first. */
  after: z.optional(idText),
});

export const searchQuery = z.object({
  /** Words that must be in the name or place of a result, or an id: "7", "worker 7". An empty text finds nothing. */
  q: z.optional(storableText().check(z.trim(), z.maxLength(maxSearchText))),
});

/** Which part of a worker's log is requested: its last `lines` (1 to 1000), or what follows byte `offset`. */
export const workerLogQuery = z.object({
  lines: z.optional(integerText(/^(?:[1-9]\d{0,2}|1000)$/, 1, 1000)),
  offset: z.optional(integerText(/^\d{1,15}$/, 0, 999_999_999_999_999)),
});

/** The query of a list that can be filtered, and a filter by event. */
export const deliveriesQuery = z.extend(filterQuery, {
  /** Events, separated by commas. */
  [eventParameter]: z.optional(z.string()),
});

/** Whether the stored files are removed, too. */
export const deleteBackupConfigurationQuery = z.object({ files: z.optional(z.enum(["remove"])) });

const countText = z.string().check(
  z.refine((text) => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= maxHold, {
    error: `This must be a number from 1 to ${maxHold}.`,
  }),
);

/**
 * A schedule and retention to try; absent = those of the configuration. `hold` replaces all keep rules: an absent
 * period keeps nothing.
 */
export const storageForecastQuery = z.object({
  frequency: z.optional(frequency),
  hold: z.optional(countText),
  hourly: z.optional(countText),
  daily: z.optional(countText),
  weekly: z.optional(countText),
  monthly: z.optional(countText),
  yearly: z.optional(countText),
});
