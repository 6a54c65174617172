// Extras of the overview: protection, every server with its sites, and what runs now. A service may leave out any of them.
import * as z from "zod/mini";
import { backupableTypes, protectionStates } from "./backups/backup.ts";
import { id, stateOf, timestamp } from "./values.ts";

const count = z.int().check(z.gte(0));

/** What runs is listed up to so many. */
export const maxRunning = 20;

/**
 * `failing`: something of it is down, cannot be notified, or has no usable backup although one is configured.
 * `unreachable`: nothing of a site is failing that could be asked for, and its server or its workers cannot.
 * `attention`: there is a good backup, and something about it wants a look. `unprotected`: nothing of it has a backup configured.
 * `empty`: there is nothing to check.
 */
const healths = ["failing", "unreachable", "attention", "unprotected", "good", "empty"] as const;
export type Health = (typeof healths)[number];
const health = stateOf(healths);

export const overviewProtection = z.object({
  /** Databases and sites. */
  total: count,
  protected: count,
  /** How many of the protected have a warning; an extra. */
  warned: z.optional(count),
  /** Without any configuration. */
  unconfigured: count,
  configurations: count,
  /** Those without a configuration come last. */
  problems: z.array(
    z.object({
      type: z.enum(backupableTypes),
      id,
      name: z.string(),
      server_id: id,
      server: z.string(),
      state: stateOf(protectionStates),
      reason: z.string(),
      /** What is odd about it although it is protected; an extra. */
      warning: z.optional(z.nullable(z.string())),
      /** Whether a run now is what mends it; an extra. */
      can_run: z.optional(z.boolean()),
      /** Null = none is configured. */
      configuration_id: z.nullable(id),
      at: z.nullable(timestamp),
    }),
  ),
});

export const overviewServer = z.object({
  id,
  name: z.string(),
  health,
  /** Databases and sites, and how many of them are protected. */
  targets: count,
  protected: count,
  /** Workers, webhooks and configured backups with a problem; and that it is unreachable. */
  problems: count,
  /** Null = it responds, or was not asked yet; an extra. */
  unreachable: z.optional(
    z.nullable(
      z.object({
        /** `workers`: the server responds, and what keeps its workers does not. */
        what: stateOf(["server", "workers"]),
        since: timestamp,
        reason: z.nullable(z.string()),
      }),
    ),
  ),
  /** Backups, restores and drills that run just now. */
  running: count,
  next_run_at: z.nullable(timestamp),
  sites: z.array(
    z.object({
      id,
      name: z.string(),
      health,
      /** Made by Quarterdeck at its first start, to try things with. */
      is_sample: z.optional(z.boolean()),
    }),
  ),
});
export type OverviewServer = z.infer<typeof overviewServer>;

export const overviewSelfBackup = z.object({
  state: stateOf(["failed", "overdue"]),
  reason: z.nullable(z.string()),
  /** When it failed, or when the last good one was made. */
  at: timestamp,
});

export const overviewRun = z.object({
  kind: stateOf(["run", "copy", "import", "restore", "drill"]),
  backup_id: id,
  /** Name of its configuration. */
  configuration: z.string(),
  server_id: id,
  server: z.string(),
  started_at: timestamp,
  /** From 0 to 1, compared with the last good backup; null = unknown. */
  share: z.nullable(z.number()),
});
export type OverviewRun = z.infer<typeof overviewRun>;
