// Decides whether a configuration protects its source. Pure, so that both ends agree.
import {
  isFinishedRun,
  isOfRun,
  type Backup,
  type BackupConfiguration,
  type protectionStates,
} from "./backup.ts";

/** Fields of a run and of its configuration that the decision needs. */
type Run = Pick<Backup, "id" | "status" | "damage" | "ended_at" | "trigger">;
type Configuration<Known extends Run> = Pick<
  BackupConfiguration,
  | "status"
  | "missed_since"
  | "last_finished_at"
  | "drill"
  | "last_proven_at"
  | "failed_drill"
  | "copy_missing"
> & {
  last_backup: Known | null;
  backups: readonly Known[];
  warnings?: readonly string[] | undefined;
};

export type Protection<Known extends Run = Backup> = {
  state: (typeof protectionStates)[number];
  /** Why, in one sentence. */
  reason: string;
  /** What is wrong although the source is protected, in one sentence; null = nothing. Shown instead of the reason. */
  warning: string | null;
  /** The newest good backup, which a restore would use. */
  newest: Known | null;
};

const dayMs = 24 * 3600 * 1000;

/** @param nowMs milliseconds since 1970 */
export function protectionOf<Known extends Run>(
  configuration: Configuration<Known>,
  nowMs: number,
): Protection<Known> {
  const judged = judge(configuration, nowMs);
  const [warning, ...others] = configuration.warnings ?? [];
  if (judged.state !== "protected" || warning === undefined) return { ...judged, warning: null };
  const count = others.length === 0 ? "" : `${others.length + 1} warnings: `;
  return { ...judged, warning: count + warning };
}

/** A higher rank is better. */
export const protectionRank = ({ state, warning }: Pick<Protection, "state" | "warning">): number =>
  ({ unprotected: 0, late: 1, protected: warning === null ? 3 : 2 })[state];

type Judged = Pick<Protection, "state" | "reason" | "warning"> & {
  id: number;
  name: string;
  /** Milliseconds since 1970; of equally good ones the newest counts. */
  atMs: number | null;
};

export const isWell = ({ state, warning }: Pick<Protection, "state" | "warning">): boolean =>
  state === "protected" && warning === null;

/**
 * Judges a source by all of its configurations: it is as protected as by the best one, and a problem of any other one is a warning.
 * @param isAlsoWell whether the source has one more configuration, without problems
 * @returns the configuration to look at, with the source's state, reason and warning; null = none is configured
 */
export function judgeSource<One extends Judged>(
  all: readonly One[],
  isAlsoWell = false,
): One | null {
  const ordered = all.toSorted(
    (a, b) => protectionRank(b) - protectionRank(a) || (b.atMs ?? 0) - (a.atMs ?? 0) || a.id - b.id,
  );
  const [best] = ordered;
  const unwell = ordered.filter((one) => !isWell(one));
  const worst = unwell.at(-1);
  if (best === undefined || worst === undefined) return best ?? null;
  const several = unwell.length > 1 ? `${unwell.length} configurations need attention. ` : "";
  if (best.state !== "protected" && !isAlsoWell) return { ...best, reason: several + best.reason };
  if (all.length === 1 && !isAlsoWell) return best;
  const warning = `${several}“${worst.name}”: ${worst.warning ?? worst.reason}`;
  return {
    ...worst,
    state: "protected",
    reason: "Another configuration has a good backup.",
    warning,
  };
}

function judge<Known extends Run>(
  configuration: Configuration<Known>,
  nowMs: number,
): Omit<Protection<Known>, "warning"> {
  const finished = configuration.backups.filter(isFinishedRun);
  const newest = finished.find(({ damage }) => !damage) ?? null;
  // Safety backups are skipped, because their failure says nothing about the runs.
  const last = [configuration.last_backup, ...configuration.backups].find(
    (run) => run !== null && isOfRun(run),
  );
  const late = (reason: string) => ({ state: "late", reason, newest }) as const;
  // A list shows only the newest runs; the good backup may be older than all of them.
  if (finished.length === 0 && configuration.last_finished_at)
    return late("The last runs failed. An earlier good backup exists.");
  if (newest === null)
    return {
      state: "unprotected",
      reason:
        finished.length > 0
          ? "Every stored backup is damaged."
          : last === undefined
            ? "No backup yet."
            : "There is no finished backup.",
      newest,
    };
  if (newest !== finished[0]) return late("The newest backup is damaged. An older one is good.");
  if (configuration.missed_since) return late("A run is overdue.");
  if (configuration.status === "failed") return late("The configuration has failed.");
  if (last?.status === "failed") return late("The last run failed.");
  if (configuration.copy_missing)
    return late(`The newest backup is missing in ${configuration.copy_missing.storage}.`);
  const failed = countingFailedDrill(configuration, newest.id);
  if (failed) return late(`Backup ${failed.backup_id} failed its restore drill.`);
  if (configuration.drill && isProofOld(configuration, nowMs))
    return late("A restore drill is overdue.");
  // Services without this extra do not report overdue runs.
  const isTimed = configuration.missed_since !== undefined;
  const reason = `The newest backup is good${isTimed ? " and on time" : ""}.`;
  return { state: "protected", reason, newest };
}

/**
 * Returns the failed drill that counts, or null. Without scheduled drills it counts until the next good run, which no drill has tried.
 * @param newestGood id of the newest good run
 */
export const countingFailedDrill = <Failed extends { backup_id: number }>(
  {
    drill,
    failed_drill: failed,
  }: { drill?: number | null | undefined; failed_drill?: Failed | null | undefined },
  newestGood: number | null | undefined,
): Failed | null => (failed && (drill || failed.backup_id >= (newestGood ?? 0)) ? failed : null);

/** A drill is due after `drill` days, and late after a further quarter of that time. */
function isProofOld({ drill, last_proven_at, backups }: Configuration<Run>, nowMs: number) {
  const oldest = backups.at(-1);
  const since = last_proven_at ?? oldest?.ended_at ?? null;
  return since !== null && nowMs - Date.parse(since) > (drill ?? 0) * dayMs * 1.25;
}
