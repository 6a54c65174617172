// Reads the data of the overview: counts, and the rows with problems, in few statements for any number of servers.
import { maxProblems } from "../../contract/overview.ts";
import { isVisibleMessage, type Visible } from "../events/visible-messages.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { executePrepared } from "../store/prepared.ts";
import { isUnreached, webhooks } from "../store/tables/webhooks.ts";
import { isInTrouble as inTrouble, workers } from "../store/tables/workers.ts";

type Sql = ReturnType<typeof sql>;

/** The site and server that a problem shows. */
type Place = { server_id: number; site_id: number; site: string };
/** Counts of workers or webhooks, the newest problems, and the counts of sites with problems. Times are milliseconds since 1970. */
type Found<Problem, Trouble> = {
  total: number;
  failing: number;
  problems: (Place & { id: number } & Problem)[];
  troubled: (Trouble & { site_id: number; failing: number })[];
};
type FoundWorkers = Found<
  {
    queue: string;
    connection: string;
    status: string;
    status_since: number | null;
    loop_since: number | null;
    reason: string | null;
    loop_reason: string | null;
  },
  { unreachable: number }
> & { up: number; stopped: number; unreachable: number };
type FoundWebhooks = Found<
  {
    url: string;
    disabled_at: number | null;
    reason: string | null;
    failing_since: number | null;
  },
  object
>;

/** Rows as one array per column, which is several times cheaper to write and to read than single rows. */
type Columns = {
  server_ids: number[];
  server_names: string[];
  sites: PlacedColumns;
  databases: PlacedColumns;
  sample_sites: number[];
  away: [serverId: number, sinceMs: number, reason: string | null][];
  workers_away: [serverId: number, sinceMs: number, reason: string | null][];
};
type Away = { since: number; reason: string | null };
export type ServerRow = {
  id: number;
  name: string;
  /** Since when and why the server, and the first of its workers that cannot be reached, do not respond. */
  away: Away | undefined;
  workersAway: Away | undefined;
};
/** The values of a row have the same index in each array. */
export type PlacedColumns = { ids: number[]; server_ids: number[]; names: string[] };
/** Each list is ordered by id. */
export type OverviewPlaces = {
  servers: ServerRow[];
  sites: PlacedColumns;
  databases: PlacedColumns;
  sampleSites: ReadonlySet<number>;
};

export function createOverviewStore(db: Database) {
  async function readOne<Row extends object>(name: string, statement: Sql): Promise<Row> {
    const [row] = await executePrepared<Row>(db, name, statement);
    if (row === undefined) throw new Error("A count has no row.");
    return row;
  }

  return {
    /**
     * Returns the number of workers by state, and the workers with problems, newest first.
     * @param loops ids of workers in a crash loop
     */
    findWorkers(visible: Visible, loops: readonly number[]): Promise<FoundWorkers> {
      const inLoop = sql`id = any (${sql.param([...loops])}::int[])`;
      const isInTrouble = inTrouble(workers);
      return readOne<FoundWorkers>(
        "overview_workers",
        sql`
        with counted as (
          select count(*)::int as total,
            ${countWhere(sql`status = 'stopped' and unreachable_since is null`)} as stopped,
            ${countWhere(sql`status = 'installed' and unreachable_since is null and not ${inLoop}`)} as up
          from workers where ${isOfVisibleSite("workers", visible)}
        ), troubled as materialized (
          select *, unreachable_since is not null as is_unreachable, unreachable_since is null and (
            status = 'failed' or (status = 'restarting' and status_reason is not null)
            -- One that is being stopped or deleted is about to be out of its loop.
            or (${inLoop} and status not in ('stopping', 'removing'))
          ) as is_failing
          from (
            select * from workers where ${isInTrouble}
            union all
            select * from workers where ${inLoop} and not ${isInTrouble}
          ) workers where ${isOfVisibleSite("workers", visible)}
        ), of_site as (
          select site_id, ${countWhere(sql`is_failing`)} as failing, ${countWhere(sql`is_unreachable`)} as unreachable
          from troubled group by site_id having bool_or(is_failing or is_unreachable)
        )
        select counted.*, coalesce(sums.failing, 0)::int as failing, coalesce(sums.unreachable, 0)::int as unreachable,
          coalesce(sums.troubled, '[]') as troubled, ${listOf(sql`
            select w.id, s.server_id, w.site_id, s.name as site, w.queue, w.connection, w.status,
              ${toMs("w.status_since")} as status_since, ${toMs("w.crash_loop_since")} as loop_since,
              w.status_reason as reason, w.crash_loop_reason as loop_reason
            from (
              select * from troubled where is_failing order by status_since desc, id limit ${maxProblems}
            ) w join sites s on s.id = w.site_id
            order by w.status_since desc, w.id`)} as problems
        from counted, (
          select sum(failing) as failing, sum(unreachable) as unreachable, json_agg(of_site) as troubled from of_site
        ) sums`,
      );
    },

    /** Returns the number of webhooks, and the webhooks that fail or are disabled. */
    findWebhooks: (visible: Visible): Promise<FoundWebhooks> =>
      readOne<FoundWebhooks>(
        "overview_webhooks",
        sql`
        with troubled as materialized (
          select * from webhooks where ${isUnreached(webhooks)} and ${isOfVisibleSite("webhooks", visible)}
        )
        select (select count(*) from webhooks where ${isOfVisibleSite("webhooks", visible)})::int as total,
          (select count(*) from troubled)::int as failing,
          ${listOf(sql`select site_id, count(*)::int as failing from troubled group by site_id`)} as troubled,
          ${listOf(sql`
            select h.id, s.server_id, h.site_id, s.name as site, h.url, ${toMs("h.disabled_at")} as disabled_at,
              h.disabled_reason as reason, ${toMs("h.failing_since")} as failing_since
            from (select * from troubled order by id limit ${maxProblems}) h join sites s on s.id = h.site_id
            order by h.id`)} as problems`,
      ),

    /**
     * Returns every visible server, site and database, ordered by id.
     * @param sampleRoot folder of the sample site that the first start creates
     */
    async listPlaces(visible: Visible, sampleRoot: string): Promise<OverviewPlaces> {
      const list = (column: string) => sql`coalesce(json_agg(${sql.identifier(column)}), '[]')`;
      const ofServer = (table: string) => sql`(
        select ${list("id")} as ids, ${list("server_id")} as server_ids, ${list("name")} as names
        from (select id, server_id, name from ${sql.identifier(table)} where ${isVisible(table, visible)} order by id) one
      )`;
      const found = await readOne<Columns>(
        "overview_places",
        sql`
        select server.ids as server_ids, server.names as server_names, row_to_json(site) as sites, row_to_json(stored) as databases,
          array(select id from sites where entry ->> 'root' = ${sampleRoot}) as sample_sites,
          (select coalesce(json_agg(json_build_array(server_id, ${toMs("since")}, reason)), '[]')
            from server_contacts where not reachable) as away,
          (select coalesce(json_agg(json_build_array(server_id, since, reason)), '[]') from (
            select distinct on (s.server_id) s.server_id, ${toMs("workers.unreachable_since")} as since,
              workers.unreachable_reason as reason
            from workers join sites s on s.id = workers.site_id
            where ${inTrouble(workers)} and workers.unreachable_since is not null
            order by s.server_id, workers.unreachable_since, workers.id
          ) first) as workers_away
        from (
          select ${list("id")} as ids, ${list("name")} as names
          from (select id, name from servers where ${isAnyOf(sql`id`, visible)} order by id) one
        ) server, ${ofServer("sites")} site, ${ofServer("databases")} stored`,
      );
      const byServer = (all: Columns["away"]) =>
        new Map(all.map(([id, since, reason]) => [id, { since, reason }]));
      const [away, workersAway] = [byServer(found.away), byServer(found.workers_away)];
      return {
        servers: found.server_ids.map((id, row) => ({
          id,
          name: found.server_names[row] ?? "",
          away: away.get(id),
          workersAway: workersAway.get(id),
        })),
        sites: found.sites,
        databases: found.databases,
        sampleSites: new Set(found.sample_sites),
      };
    },

    /**
     * Returns every channel that a visible site or server uses, with the newest visible message that an attempt was made to send:
     * while one is retried, those after it wait for it.
     */
    usedChannels: (visible: Visible) =>
      executePrepared<{
        id: number;
        name: string;
        site_id: number | null;
        server_id: number | null;
        site_ids: number[];
        server_ids: number[];
        status: string | null;
        title: string | null;
        answer: string | null;
        created_at: Date | null;
      }>(
        db,
        "overview_channels",
        sql`
        select c.id, c.name, used.site_ids[1] as site_id, used.server_ids[1] as server_id, used.site_ids, used.server_ids,
          last.status, last.title, last.answer, last.created_at
        from (
          select channel_id, coalesce(array_agg(site_id order by site_id) filter (where site_id is not null), '{}') as site_ids,
            coalesce(array_agg(server_id order by server_id) filter (where server_id is not null), '{}') as server_ids
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
          where channel_id = c.id and status <> 'pending' and ${isVisibleMessage("m", visible)} order by id desc limit 1
        ) last on true
        order by c.id`,
      ),

    /** Returns servers with backups whose outcome notifies nobody: the database belongs to no site, and the server uses no channel. */
    serversWithoutChannels: (visible: Visible) =>
      executePrepared<{ id: number; name: string; configurations: number }>(
        db,
        "overview_servers",
        sql`
        select servers.id, servers.name, unnoticed.configurations
        from (
          select server_id, count(*)::int as configurations from backup_configurations b
          where ${isVisible("b", visible)} and database_id is not null and adopted_at is null and status <> 'removing'
            and server_id not in (select server_id from server_channels)
            and database_id not in (
              select listed::int from sites, jsonb_array_elements_text(entry -> 'databases') listed where entry ? 'databases'
            )
          group by server_id order by server_id limit ${maxProblems}
        ) unnoticed join servers on servers.id = unnoticed.server_id
        order by servers.id`,
      ),
  };
}

const countWhere = (condition: Sql) => sql`(count(*) filter (where ${condition}))::int`;

/** Returns the rows of a query as one JSON array. */
const listOf = (query: Sql) => sql`(select coalesce(json_agg(one), '[]') from (${query}) one)`;

/** @param column a moment, as milliseconds since 1970 */
const toMs = (column: string) => sql.raw(`(extract(epoch from ${column}) * 1000)::float8`);

const isAnyOf = (column: Sql, visible: Visible) =>
  visible === null ? sql`true` : sql`${column} = any (${sql.param([...visible])}::int[])`;

/** @param alias of a table with a `site_id` */
const isOfVisibleSite = (alias: string, visible: Visible) =>
  visible === null
    ? sql`true`
    : sql`${sql.identifier(alias)}.site_id in (select id from sites where ${isVisible("sites", visible)})`;

/** @param alias of a table with a `server_id` */
const isVisible = (alias: string, visible: Visible) =>
  isAnyOf(sql`${sql.identifier(alias)}.server_id`, visible);
