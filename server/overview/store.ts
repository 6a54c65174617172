// Reads what the overview is made of: a few counts and the rows that have trouble, however many servers there are.
import { maxProblems } from "../../contract/overview.ts";
import { isVisibleMessage, type Visible } from "../events/visible-messages.ts";
import type { Database } from "../store/database.ts";
import {
  and,
  asc,
  desc,
  eq,
  inArray,
  isNotNull,
  isNull,
  notInArray,
  or,
  sql,
} from "../store/drizzle.ts";
import { serverContacts, servers, sites, webhooks, workers } from "../store/tables.ts";

type Condition = ReturnType<typeof sql>;

type Counts = { total: number; failing: number };
type WorkerCounts = Counts & {
  up: number;
  stopped: number;
  unreachable: number;
  /** By site. */
  troubled: { site_id: number; failing: number; unreachable: number }[];
};
type WebhookCounts = Counts & { troubled: { site_id: number; failing: number }[] };
export type OverviewDatabase = { id: number; server_id: number; name: string };
export type OverviewSite = OverviewDatabase & { is_sample: true | null };

export function createOverviewStore(db: Database) {
  const ofVisible = (visible: Visible) =>
    visible === null ? undefined : inArray(sites.server_id, [...visible]);
  /** Of each server the first of its workers that cannot be asked for. */
  const unreachableWorkers = db
    .selectDistinctOn([sites.server_id], {
      server_id: sites.server_id,
      since: sql<Date | null>`${workers.unreachable_since}`
        .mapWith(workers.unreachable_since)
        .as("workers_since"),
      reason: sql<string | null>`${workers.unreachable_reason}`.as("workers_reason"),
    })
    .from(workers)
    .innerJoin(sites, eq(sites.id, workers.site_id))
    .where(isNotNull(workers.unreachable_since))
    .orderBy(asc(sites.server_id), asc(workers.unreachable_since), asc(workers.id))
    .as("unreachable_workers");

  /** Thousands of rows as one value: reading them one by one takes several times as long. */
  async function readAsOneValue<Row>(query: Condition): Promise<Row[]> {
    const { rows } = await db.execute<{ all: Row[] }>(
      sql`select coalesce(json_agg(one), '[]') as all from (${query}) one`,
    );
    return onlyRow(rows).all;
  }

  const place = { server_id: sites.server_id, site_id: sites.id, site: sites.name };

  return {
    /** How many workers there are, in which states; and where some are in trouble. @param loops ids of those that do not stay up */
    async countWorkers(visible: Visible, loops: readonly number[]): Promise<WorkerCounts> {
      const up = and(
        eq(workers.status, "installed"),
        isNull(workers.unreachable_since),
        notInArray(workers.id, [...loops]),
      );
      const { rows } = await db.execute<WorkerCounts>(sql`
        select ${sumOf("total")}, ${sumOf("up")}, ${sumOf("stopped")}, ${sumOf("unreachable")}, ${sumOf("failing")},
          ${troubledOf(sql`'site_id', site_id, 'failing', failing, 'unreachable', unreachable`, sql`failing + unreachable > 0`)}
        from (
          select ${workers.site_id}, count(*) as total, ${countWhere(up ?? sql`true`)} as up,
            ${countWhere(sql`${workers.status} = 'stopped' and ${workers.unreachable_since} is null`)} as stopped,
            ${countWhere(isNotNull(workers.unreachable_since))} as unreachable,
            ${countWhere(isTroubled(loops))} as failing
          from ${workers} where ${isOfVisibleSite("workers", visible)} group by ${workers.site_id}
        ) of_site`);
      return onlyRow(rows);
    },

    /** Workers that failed, or that come up by themselves just now; and those of `ids`. The newest trouble first. */
    troubledWorkers: (visible: Visible, ids: readonly number[]) =>
      db
        .select({
          id: workers.id,
          ...place,
          queue: workers.queue,
          connection: workers.connection,
          status: workers.status,
          status_since: workers.status_since,
          loop_since: workers.crash_loop_since,
          reason: workers.status_reason,
          loop_reason: workers.crash_loop_reason,
        })
        .from(workers)
        .innerJoin(sites, eq(sites.id, workers.site_id))
        .where(and(ofVisible(visible), isTroubled(ids)))
        .orderBy(desc(workers.status_since), asc(workers.id))
        .limit(maxProblems),

    /** How many webhooks there are, how many of them fail or are disabled, and where. */
    async countWebhooks(visible: Visible): Promise<WebhookCounts> {
      const { rows } = await db.execute<WebhookCounts>(sql`
        select ${sumOf("total")}, ${sumOf("failing")},
          ${troubledOf(sql`'site_id', site_id, 'failing', failing`, sql`failing > 0`)}
        from (
          select ${webhooks.site_id}, count(*) as total, ${countWhere(isUnreached)} as failing
          from ${webhooks} where ${isOfVisibleSite("webhooks", visible)} group by ${webhooks.site_id}
        ) of_site`);
      return onlyRow(rows);
    },

    troubledWebhooks: (visible: Visible) =>
      db
        .select({
          id: webhooks.id,
          ...place,
          url: webhooks.url,
          disabled_at: webhooks.disabled_at,
          reason: webhooks.disabled_reason,
          failing_since: webhooks.failing_since,
        })
        .from(webhooks)
        .innerJoin(sites, eq(sites.id, webhooks.site_id))
        .where(and(ofVisible(visible), isUnreached))
        .orderBy(asc(webhooks.id))
        .limit(maxProblems),

    /** Every server that may be seen, with since when and why it does not respond, and the same of its workers. */
    listServers: (visible: Visible) =>
      db
        .select({
          id: servers.id,
          name: servers.name,
          away_since: serverContacts.since,
          away_reason: serverContacts.reason,
          workers_since: unreachableWorkers.since,
          workers_reason: unreachableWorkers.reason,
        })
        .from(servers)
        .leftJoin(
          serverContacts,
          and(eq(serverContacts.server_id, servers.id), eq(serverContacts.reachable, false)),
        )
        .leftJoin(unreachableWorkers, eq(unreachableWorkers.server_id, servers.id))
        .where(visible === null ? undefined : inArray(servers.id, [...visible]))
        .orderBy(asc(servers.id)),

    /** @param sampleRoot the folder of the site that the first start makes */
    listSites: (visible: Visible, sampleRoot: string) =>
      readAsOneValue<OverviewSite>(sql`
        select id, server_id, name, nullif(entry ->> 'root' = ${sampleRoot}, false) as is_sample
        from sites where ${isVisible("sites", visible)} order by id`),

    listDatabases: (visible: Visible) =>
      readAsOneValue<OverviewDatabase>(sql`
        select id, server_id, name from databases where ${isVisible("databases", visible)} order by id`),

    /** Every channel that a visible site or server uses, with the newest of its messages that may be seen. */
    async usedChannels(visible: Visible) {
      const { rows } = await db.execute<{
        id: number;
        name: string;
        site_id: number | null;
        server_id: number | null;
        status: string | null;
        title: string | null;
        answer: string | null;
        created_at: Date | null;
      }>(sql`
        select c.id, c.name, used.site_id, used.server_id, last.status, last.title, last.answer, last.created_at
        from (
          select channel_id, min(site_id) as site_id, min(server_id) as server_id
          from (
            select channel_id, site_id, null::int as server_id
            from site_channels join sites on sites.id = site_id
            where ${isVisible("sites", visible)}
            union all
            select channel_id, null, server_id from server_channels
            where ${isVisible("server_channels", visible)}
          ) uses
          group by channel_id
        ) used
        join notification_channels c on c.id = used.channel_id
        left join lateral (
          select status, title, answer, created_at from channel_messages m
          where channel_id = c.id and ${isVisibleMessage("m", visible)} order by id desc limit 1
        ) last on true
        order by c.id`);
      return rows;
    },

    /** Servers where what becomes of a backup notifies nobody: its database is of no site, and the server uses no channel. */
    async serversWithoutChannels(visible: Visible) {
      const { rows } = await db.execute<{ id: number; name: string; configurations: number }>(sql`
        with listed as materialized (
          select distinct listed::int as id from sites, jsonb_array_elements_text(entry -> 'databases') listed
        )
        select servers.id, servers.name, count(*)::int as configurations
        from backup_configurations b join servers on servers.id = b.server_id
        where ${isVisible("b", visible)} and b.database_id is not null
          and not exists (select from server_channels c where c.server_id = b.server_id)
          and not exists (select from listed where listed.id = b.database_id)
        group by servers.id order by servers.id limit ${maxProblems}`);
      return rows;
    },
  };
}

const countWhere = (condition: Condition) => sql`count(*) filter (where ${condition})`;

/** Of the sites' counts. */
const sumOf = (count: string) => {
  const column = sql.identifier(count);
  return sql`coalesce(sum(${column}), 0)::int as ${column}`;
};
const troubledOf = (columns: Condition, condition: Condition) =>
  sql`coalesce(json_agg(json_build_object(${columns})) filter (where ${condition}), '[]') as troubled`;

/** A query that counts has one row. */
function onlyRow<Row>([row]: Row[]): Row {
  if (row === undefined) throw new Error("A count has no row.");
  return row;
}

/** A worker that can be asked for, and that failed, comes up by itself just now, or is one of `loops`. */
const isTroubled = (loops: readonly number[]): Condition =>
  // Of conditions that are all there, some condition comes out.
  and(isNull(workers.unreachable_since), isDown(loops)) ?? sql`false`;

const isDown = (loops: readonly number[]): Condition =>
  or(
    eq(workers.status, "failed"),
    // A restart that somebody asked for has no reason to give.
    and(eq(workers.status, "restarting"), isNotNull(workers.status_reason)),
    // One that is being stopped or deleted is about to be out of its loop.
    and(inArray(workers.id, [...loops]), notInArray(workers.status, ["stopping", "removing"])),
  ) ?? sql`false`;

const isUnreached: Condition =
  and(
    // Somebody wants it to be off.
    isNull(webhooks.paused_at),
    or(isNotNull(webhooks.disabled_at), isNotNull(webhooks.failing_since)),
  ) ?? sql`false`;

/** @param alias of a table with a `site_id` */
const isOfVisibleSite = (alias: string, visible: Visible) =>
  visible === null
    ? sql`true`
    : sql`${sql.identifier(alias)}.site_id in (select id from sites where ${isVisible("sites", visible)})`;

/** @param alias of a table with a `server_id` */
const isVisible = (alias: string, visible: Visible) =>
  visible === null
    ? sql`true`
    : sql`${sql.identifier(alias)}.server_id = any(${sql.param([...visible])}::int[])`;
