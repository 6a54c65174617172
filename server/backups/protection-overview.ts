// Builds the overview of backups: the protection of each configuration, and running tasks.
import { maxRunning, type OverviewRun } from "../../contract/overview-parts.ts";
import type { Protection } from "../../contract/backups/protection.ts";
import { isInTransit } from "../../contract/states.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Clock } from "../clock.ts";
import type { Visible } from "../events/visible-messages.ts";
import type { Database } from "../store/database.ts";
import {
  protectionByRuns,
  decidingRuns,
  readJudgeable,
  type ProtectedConfiguration,
} from "./protection-store.ts";
import type { DecidingRun } from "../store/tables/backups.ts";
import type { RunningTask, TaskStore } from "./tasks/task-store.ts";

export type JudgedConfiguration = Pick<
  ProtectedConfiguration,
  "id" | "name" | "server_id" | "server" | "site_id" | "database_id"
> & {
  state: Protection["state"];
  /** Reason of the state, in one sentence. */
  reason: string;
  /** A warning about a configuration that is protected. */
  warning: string | null;
  /** Whether running a backup now would fix it. */
  canRun: boolean;
  /** Milliseconds since 1970: when the problem began, or when the newest good backup ended. */
  atMs: number | null;
};

/** Ids of sources by their configurations without problems. */
export type WellSources = {
  /** Those without any other configuration. */
  all: ReadonlySet<number>;
  /** Those that one of `configurations` backs up as well. */
  some: ReadonlySet<number>;
};

export type ProtectionOverview = {
  /** Number of all configurations. */
  total: number;
  /** Configurations with something to report. */
  configurations: JudgedConfiguration[];
  sites: WellSources;
  databases: WellSources;
  /** By server: the next run of any schedule, in milliseconds since 1970. */
  nextRuns: ReadonlyMap<number, number>;
  running: OverviewRun[];
};

const toMs = (seconds: number | null | undefined) => (seconds == null ? null : seconds * 1000);

/** Returns when the problem began: at the end of the newest run, or when the configuration failed. */
function problemAt(one: ProtectedConfiguration, runs: readonly DecidingRun[]): number | null {
  if (one.missed_since !== null) return toMs(one.missed_since);
  const ended = runs.find((run) => run.ended !== null && run.trigger !== "safety");
  if (one.status === "failed") return toMs(one.status_since);
  const isGood = ended?.status === "finished" && ended.damage === null;
  const since = isGood ? (one.copy_missing?.since ?? one.failed_drill?.at) : null;
  return toMs(since ?? ended?.ended);
}

/** Returns the first line of the reason; the configuration's page shows the rest. */
function detailOf(one: ProtectedConfiguration, runs: readonly DecidingRun[]): string | null {
  const last = runs.find(({ trigger }) => trigger !== "safety");
  const text = one.status === "failed" ? one.status_reason : last?.reason;
  return text?.split("\n", 1)[0] ?? null;
}

/** Whether a run would fix the problem: not for a failed configuration or a failed or overdue drill. */
function isMendedByRun(one: ProtectedConfiguration, runs: readonly DecidingRun[]): boolean {
  const last = runs.find(({ trigger }) => trigger !== "safety");
  if (one.status !== "installed" || isInTransit(last?.status)) return false;
  const isMissing = last === undefined || one.missed_since !== null;
  return isMissing || last.status === "failed" || last.damage !== null || one.copy_missing !== null;
}

export function createProtectionOverview({
  db,
  tasks,
  clock,
}: {
  db: Database;
  tasks: TaskStore;
  clock: Clock;
}) {
  return async (visible: Visible): Promise<ProtectionOverview> => {
    const nowMs = clock.now();
    const now = new Date(nowMs);
    const [found, running] = await Promise.all([
      readJudgeable(db, visible, now),
      tasks.running(visible, maxRunning),
    ]);
    const { unwell } = found;
    return {
      total: found.total,
      sites: wellOf(found.sites, unwell, "site_id", found.other_sites),
      databases: wellOf(found.databases, unwell, "database_id", found.other_databases),
      nextRuns: new Map(found.next_runs),
      configurations: unwell.map((one) => {
        const own = decidingRuns(one);
        const { state, reason, warning } = protectionByRuns(one, own, nowMs);
        const detail = state === "protected" ? null : detailOf(one, own);
        return {
          id: one.id,
          name: one.name,
          server_id: one.server_id,
          server: one.server,
          site_id: one.site_id,
          database_id: one.database_id,
          state,
          reason: detail === null ? reason : `${reason} ${detail}`,
          warning,
          canRun: state !== "protected" && isMendedByRun(one, own),
          atMs: state === "protected" ? toMs(one.good_at) : problemAt(one, own),
        };
      }),
      running: running.map(toRun),
    };
  };
}

/** @param others sources that have a configuration without problems in addition to one of `unwell` */
function wellOf(
  configured: readonly number[],
  unwell: readonly ProtectedConfiguration[],
  key: "site_id" | "database_id",
  others: readonly number[],
): WellSources {
  const all = new Set(configured);
  for (const { [key]: id } of unwell) if (id !== null) all.delete(id);
  return { all, some: new Set(others) };
}

function toRun(task: RunningTask): OverviewRun {
  const usual = task.usual_size ?? 0;
  return {
    kind: task.kind,
    backup_id: task.backup_id,
    configuration: task.configuration,
    server_id: task.server_id,
    server: task.server,
    started_at: toTimestamp(new Date(task.begun_at)),
    // The share is unknown once the run is larger than the previous one.
    share:
      task.kind === "run" && usual > 0 && task.plain_size <= usual ? task.plain_size / usual : null,
  };
}
