// Collects the data for a storage's forecast: its configurations, their backups, and the free space.
import type * as z from "zod/mini";
import { keepPeriods, usedRules } from "../../../contract/backups/keep-rules.ts";
import type { storageForecastQuery } from "../../../contract/queries.ts";
import { nextRuns } from "../../../contract/backups/schedule.ts";
import type { StorageForecast } from "../../../contract/backups/storage-forecast.ts";
import { toTimestampOrNull } from "../../../contract/values.ts";
import type { Clock } from "../../clock.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { Database } from "../../store/database.ts";
import { and, desc, eq, or, sql } from "../../store/drizzle.ts";
import { backupConfigurations, backups } from "../../store/tables/backups.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { forecast, type ForecastConfiguration } from "./forecast.ts";
import type { Resolver } from "../resolver.ts";

/** Number of coming runs that the average gap is computed from, enough for schedules without nights or weekends. */
const sampledRuns = 200;
/** How long a forecast is cached, because the pages of all configurations of a storage request the same one. */
const keptMs = 60_000;

/** Changes of a configuration to forecast. */
type Plan = Partial<Pick<ConfigurationRow, "frequency" | "hold" | "keep">>;

/** @returns the changes in a request; empty = the forecast is for the current settings */
export function readPlan({
  frequency,
  hold,
  ...rules
}: z.output<typeof storageForecastQuery>): Plan {
  const keep = Object.fromEntries(
    keepPeriods.map((period) => [period, Number(rules[period] ?? 0)]),
  );
  return {
    ...(frequency !== undefined && { frequency }),
    ...(hold !== undefined && { hold: Number(hold), keep: usedRules(keep) }),
  };
}

type ForecastServiceOptions = {
  db: Database;
  inventory: Pick<InventoryStore, "allServers" | "findStorageProvider">;
  resolver: Pick<Resolver, "storage">;
  clock: Clock;
};

export function createForecastService({ db, inventory, resolver, clock }: ForecastServiceOptions) {
  const kept = new Map<number, { untilMs: number; made: Promise<StorageForecast> }>();
  /** Settles with the last forecast of a plan. Only one is computed at a time, because each may take a second of this thread. */
  let lastPlan: Promise<unknown> = Promise.resolve();

  function gapOf({ frequency, next_run_at: next }: ConfigurationRow, timeZone: string, now: Date) {
    if (next === null) return null;
    const runs = nextRuns(frequency, timeZone, now, sampledRuns);
    const [first, last] = [runs[0], runs.at(-1)];
    if (first === undefined || last === undefined || runs.length < 2) return null;
    return (last.getTime() - first.getTime()) / (runs.length - 1);
  }

  async function read(
    providerId: number,
    now: Date,
    planned: ConfigurationRow | null,
  ): Promise<ForecastConfiguration[]> {
    const [rows, stored, servers, provider] = await Promise.all([
      db
        .select()
        .from(backupConfigurations)
        .where(
          or(
            eq(backupConfigurations.storage_provider_id, providerId),
            eq(backupConfigurations.copy_storage_provider_id, providerId),
          ),
        ),
      db
        .select({
          id: backups.id,
          baseId: backups.base_id,
          configurationId: backups.configuration_id,
          startedAt: sql<Date>`coalesce(${backups.taken_at}, ${backups.started_at})`.mapWith(
            backups.started_at,
          ),
          sizeBytes: backups.size,
          status: backups.status,
          trigger: backups.trigger,
          // A copy stays as long as its run is pinned, which is in another storage.
          isPinned: sql<boolean>`exists (select from backups pinned
            where pinned.id in (backups.id, backups.copy_of_id) and pinned.pinned_at is not null)`,
          lockedUntil: backups.locked_until,
        })
        .from(backups)
        .where(
          and(
            eq(backups.storage_provider_id, providerId),
            // A failed backup with a path is a failed deletion, and still has its file.
            sql`(${backups.status} = 'finished' or ${backups.status} = 'failed' and ${backups.path} <> '')`,
          ),
        )
        .orderBy(desc(backups.id)),
      inventory.allServers(),
      inventory.findStorageProvider(providerId),
    ]);
    const zones = new Map(servers.map(({ id, timeZone }) => [id, timeZone]));
    const byId = new Map(
      rows.map((row) => [row.id, row.id === planned?.id ? { ...row, ...planned } : row]),
    );
    const storedOf = Map.groupBy(stored, ({ configurationId }) => configurationId);
    // Includes configurations that now use another storage: their backups here stay until retention removes them.
    return [...new Set([...byId.keys(), ...storedOf.keys()])].map((id) => {
      const row = byId.get(id);
      const isBeingRemoved = row?.status === "removing";
      const timeZone = zones.get(row?.server_id ?? 0) ?? "UTC";
      return {
        hold: row?.hold ?? 1,
        keep: row?.keep ?? null,
        timeZone,
        isBeingRemoved,
        gapMs: row === undefined || isBeingRemoved ? null : gapOf(row, timeZone, now),
        nextRunAt: row?.next_run_at ?? null,
        incremental: row?.incremental ?? false,
        lockDays: provider?.type === "s3" ? (provider.lock?.days ?? null) : null,
        stored: (storedOf.get(id) ?? []).map(({ status, trigger, isPinned, ...one }) => ({
          ...one,
          isSafety: trigger === "safety",
          // How long deletions go on failing is unknown, so their files count like pinned ones.
          isPinned: isPinned || status === "failed",
        })),
      };
    });
  }

  async function make(
    providerId: number,
    planned: ConfigurationRow | null = null,
  ): Promise<StorageForecast> {
    const now = new Date(clock.now());
    const configurations = await read(providerId, now, planned);
    // Errors of the storage are reported where it is used.
    const free = await resolver
      .storage(providerId)
      .then((storage) => storage.freeBytes())
      .catch(() => null);
    const { storedBytes, laterBytes, fullAt } = await forecast(configurations, free, now);
    return {
      free_bytes: free,
      stored_bytes: storedBytes,
      later_bytes: laterBytes,
      full_at: toTimestampOrNull(fullAt),
      configurations: configurations.filter(({ gapMs }) => gapMs !== null).length,
    };
  }

  return {
    /**
     * Forecasts the storage of a configuration's next backup, with the changes of the plan.
     * @param signal aborted when the client disconnects
     */
    of(row: ConfigurationRow, plan: Plan, signal: AbortSignal): Promise<StorageForecast> {
      const { storage_provider_id: id } = row;
      if (Object.keys(plan).length > 0) {
        const made = lastPlan.then(() => {
          signal.throwIfAborted();
          return make(id, { ...row, ...plan });
        });
        lastPlan = made.catch(() => undefined);
        return made;
      }
      const found = kept.get(id);
      if (found !== undefined && found.untilMs > clock.now()) return found.made;
      const made = make(id);
      kept.set(id, { untilMs: clock.now() + keptMs, made });
      made.catch(() => kept.delete(id));
      return made;
    },
  };
}

export type ForecastService = ReturnType<typeof createForecastService>;
