// The protection of all sources of a server.
import type { BackupableType, BackupConfiguration } from "../../../contract/backups/backup.ts";
import {
  judgeSource,
  protectionOf,
  protectionRank,
  type Protection,
} from "../../../contract/backups/protection.ts";

/** A database or site that can be backed up. */
export type Target = { type: BackupableType; id: number; name: string };

export type ProtectionRow = {
  target: Target;
  state: Protection["state"];
  /** Why, in one sentence. */
  reason: string;
  /** What is wrong although the target is protected. */
  warning: string | null;
  /** The one with the problem, or the best one; null = none is configured. */
  configuration: BackupConfiguration | null;
  /** When the newest good backup ended; null = there is none. */
  newestAt: string | null;
};

const keyOf = ({ type, id }: Pick<Target, "type" | "id">) => `${type} ${id}`;

function toRow(
  target: Target,
  configurations: readonly BackupConfiguration[],
  nowMs: number,
): ProtectionRow {
  const none: ProtectionRow = {
    target,
    state: "unprotected",
    reason: "No backup configured.",
    warning: null,
    configuration: null,
    newestAt: null,
  };
  const all = configurations.map((configuration) => {
    const { newest, ...judged } = protectionOf(configuration, nowMs);
    const { id, name } = configuration;
    const newestAt = newest?.ended_at ?? null;
    return {
      id,
      name,
      configuration,
      newestAt,
      atMs: Date.parse(newestAt ?? "") || null,
      ...judged,
    };
  });
  const shown = judgeSource(all);
  if (shown === null) return none;
  const { state, reason, warning, configuration } = shown;
  const newestAt = all.reduce<string | null>(
    (newest, one) => ((one.newestAt ?? "") > (newest ?? "") ? one.newestAt : newest),
    null,
  );
  return { target, state, reason, warning, configuration, newestAt };
}

/**
 * Returns one row for each target, the worst first. A target that only a configuration names, because the service does
 * not list it or the inventory has dropped it, has a row, too.
 * @param targets every known database and site
 * @param nowMs milliseconds since 1970
 */
export function protectionRows(
  targets: readonly Target[],
  listed: readonly BackupConfiguration[],
  nowMs: number,
): ProtectionRow[] {
  // Adopted configurations make no backups, so they protect nothing.
  const configurations = listed.filter(({ adopted_at: adoptedAt }) => !adoptedAt);
  const configured = configurations.map(({ type, backupable }) => ({ ...backupable, type }));
  // Listed targets come last, so that their own names are used.
  const all = new Map([...configured, ...targets].map((target) => [keyOf(target), target]));
  const byTarget = Map.groupBy(configurations, ({ type, backupable: { id } }) =>
    keyOf({ type, id }),
  );
  return [...all]
    .map(([key, { type, id, name }]) => toRow({ type, id, name }, byTarget.get(key) ?? [], nowMs))
    .toSorted(
      (a, b) =>
        // The worst first.
        protectionRank(a) - protectionRank(b) ||
        a.target.type.localeCompare(b.target.type) ||
        a.target.name.localeCompare(b.target.name),
    );
}
