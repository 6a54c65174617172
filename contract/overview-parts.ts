// Extras of the overview: protection, every server with its sites, and running backups. A service may leave out any of
// them.
import * as z from "zod/mini";
import { backupableTypes, protectionStates } from "./backups/backup.ts";
import { id, stateOf, timestamp } from "./values.ts";

const count = z.int().check(z.gte(0));

/** Maximum number of running backups listed. */
export const maxRunning = 20;

/**
 * `failing`: a part of it is down, such as a worker or a webhook, or has a backup configured but no usable one.
 * `unreachable`: no known part of a site is failing, but its server or its workers cannot be reached.
 * `attention`: there is a good backup with a problem, or a channel that it uses cannot be notified. `unprotected`: nothing of it has
 * a backup configured.
 * `empty`: there is nothing to check.
 */
const healths = ["failing", "unreachable", "attention", "unprotected", "good", "empty"] as const;
export type Health = (typeof healths)[number];
const health = stateOf(healths);

export const overviewProtection = z.object({
  /** Number of databases and sites. */
  total: count,
  protected: count,
  /** Number of protected ones with a warning; an extra. */
  warned: z.optional(count),
  /** Number of databases and sites without any configuration. */
  unconfigured: count,
  configurations: count,
  /** Those without a configuration are last. */
  problems: z.array(
    z.object({
      type: z.enum(backupableTypes),
      id,
      name: z.string(),
      server_id: id,
      server: z.string(),
      state: stateOf(protectionStates),
      reason: z.string(),
      /** What is wrong although it is protected; an extra. */
      warning: z.optional(z.nullable(z.string())),
      /** Whether a run would solve the problem; an extra. */
      can_run: z.optional(z.boolean()),
      /** Null = no backup is configured. */
      configuration_id: z.nullable(id),
      at: z.nullable(timestamp),
    }),
  ),
});

export const overviewServer = z.object({
  id,
  name: z.string(),
  health,
  /** Number of databases and sites, and how many of them are protected. */
  targets: count,
  protected: count,
  /**
   * Number of workers, webhooks, channels and configured backups with a problem, plus one if the server is unreachable, and one if
   * it has backups that notify nobody.
   */
  problems: count,
  /** Null = it responds, or was not checked yet; an extra. */
  unreachable: z.optional(
    z.nullable(
      z.object({
        /** `workers`: the server responds, but the process manager of its workers does not. */
        what: stateOf(["server", "workers"]),
        since: timestamp,
        reason: z.nullable(z.string()),
      }),
    ),
  ),
  /** Number of backups, restores and drills that are running. */
  running: count,
  next_run_at: z.nullable(timestamp),
  sites: z.array(
    z.object({
      id,
      name: z.string(),
      health,
      /** Whether it is the sample site that Quarterdeck creates at its first start. */
      is_sample: z.optional(z.boolean()),
    }),
  ),
});
export type OverviewServer = z.infer<typeof overviewServer>;

export const overviewSelfBackup = z.object({
  state: stateOf(["failed", "overdue"]),
  reason: z.nullable(z.string()),
  /** When it failed, or when the last good backup was made. */
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
  /** Progress from 0 to 1, estimated from the last good backup; null = unknown. */
  share: z.nullable(z.number()),
});
export type OverviewRun = z.infer<typeof overviewRun>;
