// Judges databases, sites and servers by the state of their backups, workers and webhooks. Pure. Most of thousands have no problem,
// so these are only counted: garbage collection of objects for them would take longer than judging.
import { isWell, judgeSource } from "../../contract/backups/protection.ts";
import { maxProblems, type Overview } from "../../contract/overview.ts";
import type { Health, OverviewServer } from "../../contract/overview-parts.ts";
import { toTimestamp } from "../../contract/values.ts";
import type {
  JudgedConfiguration,
  ProtectionOverview,
  WellSources,
} from "../backups/protection-overview.ts";
import type { OverviewPlaces, PlacedColumns, ServerRow } from "./store.ts";

type Trouble = { site_id: number; failing: number; unreachable?: number };
type Channels = {
  /** Those that can't be notified, with what uses them. */
  unreached: readonly { site_ids: readonly number[]; server_ids: readonly number[] }[];
  /** Servers with backups that notify nobody. */
  missing: readonly { id: number }[];
};
type Protection = NonNullable<Overview["protection"]>;
type Problem = Protection["problems"][number];

/** A database or site with a problem, with the configuration to look at. */
type Wrong = Pick<Problem, "type" | "id" | "name" | "server_id"> & {
  configuration: JudgedConfiguration | null;
};

/** Numbers of databases and sites. */
type Tally = {
  total: number;
  configured: number;
  protected: number;
  /** `unwell`: configured ones with a problem; `unprotected`: the part of these that is not protected at all. */
  unwell: number;
  unprotected: number;
};
const nothing: Tally = { total: 0, configured: 0, protected: 0, unwell: 0, unprotected: 0 };
const oneWell: Tally = { ...nothing, total: 1, configured: 1, protected: 1 };

function tallyOf({ configuration }: Wrong): Tally {
  if (configuration === null) return { ...nothing, total: 1 };
  const isProtected = configuration.state === "protected";
  return {
    total: 1,
    configured: 1,
    protected: isProtected ? 1 : 0,
    unwell: 1,
    unprotected: configuration.state === "unprotected" ? 1 : 0,
  };
}

function add(to: Tally, one: Tally): void {
  to.total += one.total;
  to.configured += one.configured;
  to.protected += one.protected;
  to.unwell += one.unwell;
  to.unprotected += one.unprotected;
}

type Judged = {
  /** Databases first. */
  wrong: readonly Wrong[];
  /** By server id; servers with neither a database nor a site are missing. */
  tallies: ReadonlyMap<number, Tally>;
};

/** @param ms since 1970 */
export const toMoment = (ms: number | null | undefined): string | null =>
  ms == null ? null : toTimestamp(new Date(ms));

/** Every database and site. */
export function judgeTargets(
  places: Pick<OverviewPlaces, "sites" | "databases">,
  { configurations, sites, databases }: ProtectionOverview,
): Judged {
  const wrong: Wrong[] = [];
  const tallies = new Map<number, Tally>();
  const judge = (
    type: Problem["type"],
    { ids, server_ids, names }: PlacedColumns,
    well: WellSources,
    configured: ReadonlyMap<number | null, readonly JudgedConfiguration[]>,
  ) => {
    for (const [row, id] of ids.entries()) {
      const server_id = server_ids[row] ?? 0;
      let tally = tallies.get(server_id);
      if (tally === undefined) tallies.set(server_id, (tally = { ...nothing }));
      const isWellByAll = well.all.has(id);
      const configuration = isWellByAll
        ? null
        : judgeSource(configured.get(id) ?? [], well.some.has(id));
      // The statement is stricter than the rules: e.g. a target whose drill is a little late may still be judged as well.
      if (isWellByAll || (configuration !== null && isWell(configuration))) {
        add(tally, oneWell);
        continue;
      }
      const one: Wrong = { type, id, name: names[row] ?? "", server_id, configuration };
      wrong.push(one);
      add(tally, tallyOf(one));
    }
  };
  judge(
    "database",
    places.databases,
    databases,
    Map.groupBy(configurations, (one) => one.database_id),
  );
  judge(
    "site",
    places.sites,
    sites,
    Map.groupBy(configurations, (one) => one.site_id),
  );
  return { wrong, tallies };
}

const newestFirst = (a: Wrong, b: Wrong) =>
  (b.configuration?.atMs ?? 0) - (a.configuration?.atMs ?? 0);

export function protectionPart(
  { wrong, tallies }: Judged,
  servers: readonly ServerRow[],
  configurations: number,
): Protection {
  const all = { ...nothing };
  for (const tally of tallies.values()) add(all, tally);
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
  const configured = wrong.filter((one) => one.configuration !== null);
  const unconfigured = wrong.filter((one) => one.configuration === null);
  return {
    total: all.total,
    protected: all.protected,
    warned: wrong.filter(({ configuration }) => configuration?.state === "protected").length,
    unconfigured: unconfigured.length,
    configurations,
    problems: [
      ...configured.toSorted(newestFirst).slice(0, maxProblems),
      ...unconfigured.slice(0, maxProblems),
    ].map(toProblem),
  };
}

function unreachableOf({ away, workersAway }: ServerRow): OverviewServer["unreachable"] {
  const first = away ?? workersAway;
  if (first === undefined) return null;
  const since = toTimestamp(new Date(first.since));
  return { what: away === undefined ? "workers" : "server", since, reason: first.reason };
}

function healthOf(tally: Tally, failing: number, isUnreachable: boolean): Health {
  if (failing > 0 || tally.unprotected > 0) return "failing";
  if (isUnreachable) return "unreachable";
  if (tally.unwell > 0) return "attention";
  if (tally.configured < tally.total) return "unprotected";
  return tally.total === 0 ? "empty" : "good";
}

const withUnwell = (tally: Tally, more: number): Tally => ({
  ...tally,
  unwell: tally.unwell + more,
});

/** @param troubles of workers and webhooks, by site */
export function serversPart(
  { servers, sites, sampleSites }: Pick<OverviewPlaces, "servers" | "sites" | "sampleSites">,
  { wrong, tallies }: Judged,
  troubles: readonly Trouble[],
  { nextRuns, running }: ProtectionOverview,
  channels: Channels,
): OverviewServer[] {
  const failingOf = new Map<number, number>();
  for (const { site_id, failing } of troubles)
    failingOf.set(site_id, (failingOf.get(site_id) ?? 0) + failing);
  const unreachableSites = new Set(
    troubles.filter(({ unreachable = 0 }) => unreachable > 0).map(({ site_id }) => site_id),
  );
  const wrongSites = new Map(
    wrong.filter(({ type }) => type === "site").map((one) => [one.id, tallyOf(one)]),
  );
  const sitesOf = Map.groupBy(sites.ids.keys(), (row) => sites.server_ids[row]);
  const unnotifiedSites = new Set(channels.unreached.flatMap(({ site_ids: ids }) => ids));
  const serverOfSite = new Map(sites.ids.map((site, row) => [site, sites.server_ids[row]]));
  // A channel is one problem of a server, however many of its sites use it.
  const channelsOf = channels.unreached.map(
    ({ site_ids, server_ids }) =>
      new Set([...server_ids, ...site_ids.map((site) => serverOfSite.get(site))]),
  );
  const withoutChannels = new Set(channels.missing.map(({ id }) => id));

  return servers.map((server) => {
    const { id, name } = server;
    const unreachable = unreachableOf(server) ?? null;
    const unnotified =
      channelsOf.filter((users) => users.has(id)).length + Number(withoutChannels.has(id));
    const tally = withUnwell(tallies.get(id) ?? nothing, unnotified);
    let failing = unreachable === null ? 0 : 1;
    const ownSites = (sitesOf.get(id) ?? []).map((row) => {
      const site = sites.ids[row] ?? 0;
      const failingThere = failingOf.get(site) ?? 0;
      failing += failingThere;
      const isUnreachable = unreachable?.what === "server" || unreachableSites.has(site);
      const tally = withUnwell(wrongSites.get(site) ?? oneWell, Number(unnotifiedSites.has(site)));
      const health = healthOf(tally, failingThere, isUnreachable);
      const shown = { id: site, name: sites.names[row] ?? "", health };
      return sampleSites.has(site) ? { ...shown, is_sample: true } : shown;
    });
    return {
      id,
      name,
      health: healthOf(tally, failing, false),
      targets: tally.total,
      protected: tally.protected,
      problems: failing + tally.unwell,
      unreachable,
      running: running.filter((run) => run.server_id === id).length,
      next_run_at: toMoment(nextRuns.get(id)),
      sites: ownSites,
    };
  });
}
