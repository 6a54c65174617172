// Judges databases, sites and servers from what is known of their backups, workers and webhooks. Pure.
import { protectionRank } from "../../contract/backups/protection.ts";
import { maxProblems, type Overview } from "../../contract/overview.ts";
import type { Health, OverviewServer } from "../../contract/overview-parts.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { JudgedConfiguration, ProtectionOverview } from "../backups/protection-overview.ts";
import type { OverviewDatabase, OverviewSite } from "./store.ts";

type Entry = { id: number; name: string };
type ServerRow = Entry & {
  away_since: Date | null;
  away_reason: string | null;
  workers_since: Date | null;
  workers_reason: string | null;
};
type Inventory = {
  servers: readonly ServerRow[];
  sites: readonly OverviewSite[];
  databases: readonly OverviewDatabase[];
};
type Trouble = { site_id: number; failing: number; unreachable?: number };
type Protection = NonNullable<Overview["protection"]>;
type Problem = Protection["problems"][number];
/** A database or site with what its best configuration says of it; `well` = nothing. */
type Target = (OverviewDatabase & { type: Problem["type"] }) & {
  configuration: JudgedConfiguration | "well" | null;
};

const best = (all: readonly JudgedConfiguration[] | undefined): JudgedConfiguration | undefined =>
  all?.toSorted(
    (a, b) => protectionRank(b) - protectionRank(a) || (b.atMs ?? 0) - (a.atMs ?? 0) || a.id - b.id,
  )[0];

const isProtected = ({ configuration: one }: Target): boolean =>
  one === "well" || one?.state === "protected";
const isWell = ({ configuration: one }: Target): boolean =>
  one === "well" || (one?.state === "protected" && one.warning === null);

const toMoment = (ms: number | null | undefined) => (ms == null ? null : toTimestamp(new Date(ms)));

/** Every database and site. */
export function judgeTargets(
  { sites, databases }: Pick<Inventory, "sites" | "databases">,
  { configurations, wellSites, wellDatabases }: ProtectionOverview,
): Target[] {
  const ofSite = Map.groupBy(configurations, (one) => one.site_id);
  const ofDatabase = Map.groupBy(configurations, (one) => one.database_id);
  return [
    ...databases.map((one): Target => ({
      ...one,
      type: "database",
      configuration: wellDatabases.has(one.id) ? "well" : (best(ofDatabase.get(one.id)) ?? null),
    })),
    ...sites.map(({ id, name, server_id }): Target => ({
      id,
      name,
      server_id,
      type: "site",
      configuration: wellSites.has(id) ? "well" : (best(ofSite.get(id)) ?? null),
    })),
  ];
}

type Wrong = Target & { configuration: JudgedConfiguration | null };
const isWrong = (target: Target): target is Wrong => !isWell(target);

const newestFirst = (a: Wrong, b: Wrong) =>
  (b.configuration?.atMs ?? 0) - (a.configuration?.atMs ?? 0);

export function protectionPart(
  targets: readonly Target[],
  servers: Inventory["servers"],
  configurations: number,
): Protection {
  const names = new Map(servers.map(({ id, name }) => [id, name]));
  const toProblem = ({ configuration, type, id, name, server_id }: Wrong): Problem => ({
    type,
    id,
    name,
    server_id,
    server: names.get(server_id) ?? "",
    state: configuration?.state ?? "unprotected",
    reason: configuration?.reason ?? "No backup configured.",
    warning: configuration?.warning ?? null,
    can_run: configuration?.canRun ?? false,
    configuration_id: configuration?.id ?? null,
    at: toMoment(configuration?.atMs),
  });
  const wrong = targets.filter(isWrong);
  const configured = wrong.filter((one) => one.configuration !== null);
  const unconfigured = wrong.filter((one) => one.configuration === null);
  return {
    total: targets.length,
    protected: targets.filter(isProtected).length,
    warned: wrong.filter(isProtected).length,
    unconfigured: unconfigured.length,
    configurations,
    problems: [
      ...configured.toSorted(newestFirst).slice(0, maxProblems),
      ...unconfigured.slice(0, maxProblems),
    ].map(toProblem),
  };
}

function unreachableOf(server: ServerRow): OverviewServer["unreachable"] {
  const { away_since: away, workers_since: workers } = server;
  if (away !== null)
    return { what: "server", since: toTimestamp(away), reason: server.away_reason };
  if (workers === null) return null;
  return { what: "workers", since: toTimestamp(workers), reason: server.workers_reason };
}

function healthOf(targets: readonly Target[], failing: number, isUnreachable: boolean): Health {
  const configured = targets.filter((one) => one.configuration !== null);
  const isUnprotected = ({ configuration: one }: Target) =>
    one !== "well" && one?.state === "unprotected";
  if (failing > 0 || configured.some(isUnprotected)) return "failing";
  if (isUnreachable) return "unreachable";
  if (!configured.every(isWell)) return "attention";
  if (configured.length < targets.length) return "unprotected";
  return targets.length === 0 ? "empty" : "good";
}

/** @param troubles of workers and webhooks, by site */
export function serversPart(
  { servers, sites }: Pick<Inventory, "servers" | "sites">,
  targets: readonly Target[],
  troubles: readonly Trouble[],
  { nextRuns, running }: ProtectionOverview,
): OverviewServer[] {
  const failingOf = new Map<number, number>();
  for (const { site_id, failing } of troubles)
    failingOf.set(site_id, (failingOf.get(site_id) ?? 0) + failing);
  const unreachableSites = new Set(
    troubles.filter(({ unreachable = 0 }) => unreachable > 0).map(({ site_id }) => site_id),
  );
  const targetsOf = Map.groupBy(targets, ({ server_id }) => server_id);
  const targetOfSite = new Map(
    targets.filter(({ type }) => type === "site").map((target) => [target.id, target]),
  );
  const sitesOf = Map.groupBy(sites, ({ server_id }) => server_id);

  return servers.map((server) => {
    const { id, name } = server;
    const unreachable = unreachableOf(server) ?? null;
    const own = targetsOf.get(id) ?? [];
    const ownSites = sitesOf.get(id) ?? [];
    const failing =
      ownSites.reduce((sum, site) => sum + (failingOf.get(site.id) ?? 0), 0) +
      (unreachable === null ? 0 : 1);
    const configuredProblems = own.filter((one) => one.configuration !== null && !isWell(one));
    return {
      id,
      name,
      health: healthOf(own, failing, false),
      targets: own.length,
      protected: own.filter(isProtected).length,
      problems: failing + configuredProblems.length,
      unreachable,
      running: running.filter((run) => run.server_id === id).length,
      next_run_at: toMoment(nextRuns.get(id)),
      sites: ownSites.map((site) => {
        const target = targetOfSite.get(site.id);
        return {
          id: site.id,
          name: site.name,
          health: healthOf(
            target === undefined ? [] : [target],
            failingOf.get(site.id) ?? 0,
            unreachable?.what === "server" || unreachableSites.has(site.id),
          ),
          ...(site.is_sample === true ? { is_sample: true } : {}),
        };
      }),
    };
  });
}
