// "Am I protected?" for all of a server: its databases and sites, each with the configuration that protects it best.
import type { BackupableType, BackupConfiguration } from "../../contract/backups/backup.ts";
import {
  protectionOf,
  protectionRank,
  type Protection,
} from "../../contract/backups/protection.ts";

/** What can be backed up. */
export type Target = { type: BackupableType; id: number; name: string };

export type ProtectionRow = {
  target: Target;
  state: Protection["state"];
  /** Why, in one sentence. */
  reason: string;
  /** What is odd although it is protected. */
  warning: string | null;
  /** Null = nothing backs it up. Otherwise the one that would be restored from. */
  configuration: BackupConfiguration | null;
  /** When its newest good backup ended; null = there is none. */
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
  const [best = none] = configurations
    .map((configuration): ProtectionRow => {
      const { newest, ...judged } = protectionOf(configuration, nowMs);
      return { target, ...judged, configuration, newestAt: newest?.ended_at ?? null };
    })
    .toSorted(
      (a, b) =>
        protectionRank(b) - protectionRank(a) ||
        (b.newestAt ?? "").localeCompare(a.newestAt ?? "") ||
        (a.configuration?.id ?? 0) - (b.configuration?.id ?? 0),
    );
  return best;
}

/**
 * One row for each target, the worst first. What only a configuration knows of, because the service lists no such thing
 * or its inventory has dropped it, has a row too.
 * @param targets every database and site that is known
 * @param nowMs milliseconds since 1970
 */
export function protectionRows(
  targets: readonly Target[],
  listed: readonly BackupConfiguration[],
  nowMs: number,
): ProtectionRow[] {
  // What makes no backups protects nothing.
  const configurations = listed.filter(({ adopted_at: adoptedAt }) => !adoptedAt);
  const configured = configurations.map(({ type, backupable }) => ({ ...backupable, type }));
  // A target that is listed comes last, so that its own name counts.
  const all = new Map([...configured, ...targets].map((target) => [keyOf(target), target]));
  const byTarget = Map.groupBy(configurations, ({ type, backupable: { id } }) =>
    keyOf({ type, id }),
  );
  return [...all]
    .map(([key, { type, id, name }]) => toRow({ type, id, name }, byTarget.get(key) ?? [], nowMs))
    .toSorted(
      (a, b) =>
        // The worst is what one comes for.
        protectionRank(a) - protectionRank(b) ||
        a.target.type.localeCompare(b.target.type) ||
        a.target.name.localeCompare(b.target.name),
    );
}
