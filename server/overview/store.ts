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
import { databases, serverContacts, servers, sites, webhooks, workers } from "../store/tables.ts";

type Condition = ReturnType<typeof sql>;

export function createOverviewStore(db: Database) {
  const ofVisible = (visible: Visible) =>
    visible === null ? undefined : inArray(sites.server_id, [...visible]);
  const place = { server_id: sites.server_id, site_id: sites.id, site: sites.name };

  return {
    /** How many workers a site has, in which states. @param loops ids of those that do not stay up */
    countWorkers: (visible: Visible, loops: readonly number[]) =>
      db
        .select({
          site_id: workers.site_id,
          total: sql<number>`count(*)::int`,
          up: countWhere(
            and(
              eq(workers.status, "installed"),
              isNull(workers.unreachable_since),
              notInArray(workers.id, [...loops]),
            ) ?? sql`true`,
          ),
          stopped: countWhere(
            and(eq(workers.status, "stopped"), isNull(workers.unreachable_since)) ?? sql`true`,
          ),
          unreachable: countWhere(isNotNull(workers.unreachable_since)),
          failing: countWhere(isTroubled(loops)),
        })
        .from(workers)
        .innerJoin(sites, eq(sites.id, workers.site_id))
        .where(ofVisible(visible))
        .groupBy(workers.site_id),

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

    /** How many webhooks a site has, and how many of them fail or are disabled. */
    countWebhooks: (visible: Visible) =>
      db
        .select({
          site_id: webhooks.site_id,
          total: sql<number>`count(*)::int`,
          failing: countWhere(isUnreached),
        })
        .from(webhooks)
        .innerJoin(sites, eq(sites.id, webhooks.site_id))
        .where(ofVisible(visible))
        .groupBy(webhooks.site_id),

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
          workers_since: sql<Date | null>`(${ofUnreachable(sql`unreachable_since`)})`.mapWith(
            workers.unreachable_since,
          ),
          workers_reason: sql<string | null>`(${ofUnreachable(sql`unreachable_reason`)})`,
        })
        .from(servers)
        .leftJoin(
          serverContacts,
          and(eq(serverContacts.server_id, servers.id), eq(serverContacts.reachable, false)),
        )
        .where(visible === null ? undefined : inArray(servers.id, [...visible]))
        .orderBy(asc(servers.id)),

    listSites: (visible: Visible) =>
      db
        .select({
          id: sites.id,
          server_id: sites.server_id,
          name: sites.name,
          root: sql<string>`${sites.entry} ->> 'root'`,
        })
        .from(sites)
        .where(ofVisible(visible))
        .orderBy(asc(sites.id)),

    listDatabases: (visible: Visible) =>
      db
        .select({ id: databases.id, server_id: databases.server_id, name: databases.name })
        .from(databases)
        .where(visible === null ? undefined : inArray(databases.server_id, [...visible]))
        .orderBy(asc(databases.id)),

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
        select servers.id, servers.name, count(*)::int as configurations
        from backup_configurations b join servers on servers.id = b.server_id
        where ${isVisible("b", visible)} and b.database_id is not null
          and not exists (select from server_channels c where c.server_id = b.server_id)
          and b.database_id not in (
            select listed::int from sites, jsonb_array_elements_text(entry -> 'databases') listed)
        group by servers.id order by servers.id limit ${maxProblems}`);
      return rows;
    },
  };
}

const countWhere = (condition: Condition) => sql<number>`count(*) filter (where ${condition})::int`;

/** Of the first worker on a server that cannot be asked for. */
const ofUnreachable = (column: Condition): Condition => sql`
  select one.${column} from workers one join sites its on its.id = one.site_id
  where its.server_id = ${servers.id} and one.unreachable_since is not null
  order by one.unreachable_since, one.id limit 1`;

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

/** @param alias of a table with a `server_id` */
const isVisible = (alias: string, visible: Visible) =>
  visible === null
    ? sql`true`
    : sql`${sql.identifier(alias)}.server_id = any(${sql.param([...visible])}::int[])`;
