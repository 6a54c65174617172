// What is not as it should be, over all servers: workers that are not up, receivers that are not reached.
import * as z from "zod/mini";
import {
  overviewProtection,
  overviewRun,
  overviewSelfBackup,
  overviewServer,
} from "./overview-parts.ts";
import { id, timestamp } from "./values.ts";

const count = z.int().check(z.gte(0));
const place = { server_id: id, site_id: id, site: z.string() };

/** A list of problems names so many at the most; the counts are of all. */
export const maxProblems = 100;

export const overview = z
  .object({
    workers: z.object({
      total: count,
      /** Workers with all their processes up, and to stay: those in a crash loop are not. */
      up: count,
      /** Workers that somebody stopped. */
      stopped: count,
      problems: z.array(
        z.object({
          id,
          ...place,
          queue: z.string(),
          /** An extra, which earlier versions lack. */
          connection: z.optional(z.string()),
          status: z.string(),
          /** Up again and again, and never for long, although its status may say `installed`. */
          is_crash_loop: z.boolean(),
          reason: z.nullable(z.string()),
          /** Since when; an extra. */
          at: z.optional(z.nullable(timestamp)),
        }),
      ),
      /** Workers that cannot be asked for; they are a problem of their server. An extra. */
      unreachable: z.optional(count),
      /** How many have a problem, also beyond those that are listed; an extra. */
      failing: z.optional(count),
    }),
    webhooks: z.object({
      total: count,
      problems: z.array(
        z.object({
          id,
          ...place,
          host: z.string(),
          status: z.string(),
          failing_since: z.nullable(timestamp),
          reason: z.nullable(z.string()),
          /** When it was disabled or began to fail; an extra. */
          at: z.optional(z.nullable(timestamp)),
        }),
      ),
      /** As of workers. */
      failing: z.optional(count),
    }),
    /** Servers with a backup that belongs to none of their sites, and with no channel that is notified of it; an extra. */
    servers_without_channels: z.optional(
      z.array(z.object({ id, name: z.string(), configurations: z.int() })),
    ),
    /** Those that a site or a server uses. */
    channels: z.object({
      total: count,
      problems: z.array(
        z.object({
          id,
          name: z.string(),
          /** A site that uses it, where it can be tested; null = only servers do. */
          site_id: z.nullable(id),
          /** A server that uses it, where it can be tested; null = only sites do. */
          server_id: z.optional(z.nullable(id)),
          /** The message that did not get through. */
          title: z.string(),
          answer: z.nullable(z.string()),
          at: timestamp,
        }),
      ),
      /** As of workers. */
      failing: z.optional(count),
    }),
    /** What is wrong with the service's backup of itself; null = nothing. An extra, for who sees every server. */
    self_backup: z.optional(z.nullable(overviewSelfBackup)),
    /** An extra. */
    protection: z.optional(overviewProtection),
    /** Every server, by id; an extra. */
    servers: z.optional(z.array(overviewServer)),
    /** What runs now, the longest first; an extra. */
    running: z.optional(z.array(overviewRun)),
  })
  .register(z.globalRegistry, { id: "Overview" });
export type Overview = z.infer<typeof overview>;
