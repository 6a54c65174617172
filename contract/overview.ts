// Problems of all servers: workers that are down, receivers that cannot be reached.
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

/** Maximum length of a list of problems; the counts include all of them. */
export const maxProblems = 100;

export const overview = z
  .object({
    workers: z.object({
      total: count,
      /** Number of workers with all processes up, without those in a crash loop. */
      up: count,
      /** Number of workers that a user stopped. */
      stopped: count,
      problems: z.array(
        z.object({
          id,
          ...place,
          queue: z.string(),
          /** An extra, which earlier versions lack. */
          connection: z.optional(z.string()),
          status: z.string(),
          /** Whether it is in a crash loop, although its status may be `installed`. */
          is_crash_loop: z.boolean(),
          reason: z.nullable(z.string()),
          /** Since when it has the problem; an extra. */
          at: z.optional(z.nullable(timestamp)),
        }),
      ),
      /** Number of workers whose process manager cannot be reached, which is a problem of their server; an extra. */
      unreachable: z.optional(count),
      /** Number of workers with a problem, including those that are not listed; an extra. */
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
      /** Number of webhooks with a problem, including those that are not listed; an extra. */
      failing: z.optional(count),
    }),
    /** Servers that have backups outside of their sites, but no channel to notify about them; an extra. */
    servers_without_channels: z.optional(
      z.array(z.object({ id, name: z.string(), configurations: z.int() })),
    ),
    /** Channels that a site or server uses. */
    channels: z.object({
      total: count,
      problems: z.array(
        z.object({
          id,
          name: z.string(),
          /** A site that uses it, where it can be tested; null = only servers use it. */
          site_id: z.nullable(id),
          /** A server that uses it, where it can be tested; null = only sites use it. */
          server_id: z.optional(z.nullable(id)),
          /** The message that was not delivered. */
          title: z.string(),
          answer: z.nullable(z.string()),
          at: timestamp,
        }),
      ),
      /** Number of channels with a problem, including those that are not listed; an extra. */
      failing: z.optional(count),
    }),
    /** What is wrong with the service's backup of itself; null = nothing. An extra, for tokens of every server. */
    self_backup: z.optional(z.nullable(overviewSelfBackup)),
    /** An extra. */
    protection: z.optional(overviewProtection),
    /** Every server, by id; an extra. */
    servers: z.optional(z.array(overviewServer)),
    /** Running backups, the longest-running first; an extra. */
    running: z.optional(z.array(overviewRun)),
  })
  .register(z.globalRegistry, { id: "Overview" });
export type Overview = z.infer<typeof overview>;
