// The SQL that reads the objects of each kind for the search.
import type { SearchKind } from "../../contract/search.ts";
import { sql } from "../store/drizzle.ts";
import { isVisible, mayBeFound, once, type Group } from "./places.ts";
import { fold, type Sql } from "./texts.ts";

type Source = {
  /**
   * Rows that may match, with `id`, `name`, `folded` and the columns that the other parts read. `rest` = the patterns that the
   * row's places do not match; null = all patterns.
   */
  things: Sql;
  /** The row's own text, which must match `rest`. */
  own: Sql;
  /** The folded text of the row's places, which follows its name and a space in its full text. */
  place: Sql;
  /** Columns of the `best` matches in the response; `from` joins the tables that they need. */
  detail: Sql;
  status: Sql;
  serverId: Sql;
  siteId: Sql;
  from: Sql;
};

const nothing = { detail: sql`''`, status: sql`null`, from: sql`` };
const noId = sql`null::int`;
const onServer = {
  detail: sql`server.name`,
  status: sql`null`,
  serverId: sql`best.server_id`,
  from: sql`join servers server on server.id = best.server_id`,
};

/** Whether the text has a word that every configuration's place matches: `on`, or a part of it. */
const isOfOn = (text: string): boolean =>
  text
    .normalize("NFKD")
    .split(/[\s\p{M}]+/u)
    .some((word) => /^(?:o|n|on)$/i.test(word));

export function sourceOf(kind: SearchKind, group: Group): Source {
  const { text, servers, sites, databases, visible } = group;
  /** Ids of the places that match all patterns: everything in them is a match. */
  const matchedBy = (places: Sql) => sql`array(select id from ${places} where rest = '{}')`;

  /** For workers and webhooks. @param columns their own columns, including `name` */
  const ofSite = (table: Sql, columns: Sql, folded: Sql) => ({
    things: sql`
      select own.*, ${folded}, in_site.rest, in_site.folded || ' ' || in_site.server as site from (
        select id, site_id, ${columns} from ${table}
        where ${visible === null ? sql`true` : sql`site_id in (select id from sites where ${isVisible(visible)})`}
          and ${mayBeFound(group, kind, sql`site_id = any (${matchedBy(sites)})`)} ${once}
      ) own left join ${sites} in_site on in_site.id = own.site_id`,
    // `sites` lacks a site that matches no pattern, so its name is read here.
    place: sql`coalesce(site, (
      select ${fold(sql`own_site.name`)} || ' ' || server.folded
      from sites own_site join ${servers} server on server.id = own_site.server_id where own_site.id = things.site_id
    ))`,
    status: sql`best.status`,
    serverId: sql`site.server_id`,
    siteId: sql`best.site_id`,
    from: sql`join sites site on site.id = best.site_id`,
  });

  switch (kind) {
    case "server":
      return {
        ...nothing,
        things: sql`select * from ${servers}`,
        own: sql`''`,
        place: sql`''`,
        serverId: sql`best.id`,
        siteId: noId,
      };
    case "site":
      return {
        ...onServer,
        things: sql`select * from ${sites}`,
        own: sql`''`,
        place: sql`server`,
        siteId: sql`best.id`,
      };
    case "database":
      return {
        ...onServer,
        things: sql`
          select own.*, ${fold(sql`(stored.entry ->> 'engine')`)} as engine
          from ${databases} own join databases stored on stored.id = own.id`,
        own: sql`engine`,
        place: sql`server || ' ' || engine`,
        siteId: noId,
      };
    case "configuration":
      return {
        things: sql`
          select own.*, ${fold(sql`own.name`)} as folded, coalesce(in_database.rest, in_site.rest) as rest,
            coalesce(in_database.folded || ' on ' || in_database.server, in_site.folded || ' on ' || in_site.server) as source
          from (
            select id, name, server_id, site_id, database_id, status from backup_configurations
            where ${isVisible(visible)} and ${isOfOn(text) ? sql`true` : mayBeFound(group, kind, sql`site_id = any (${matchedBy(sites)}) or database_id = any (${matchedBy(databases)})`)} ${once}
          ) own
            left join ${sites} in_site on in_site.id = own.site_id
            left join ${databases} in_database on in_database.id = own.database_id`,
        own: sql`folded || ' on'`,
        place: sql`coalesce(source, (
          select ${fold(sql`coalesce(of_database.name, of_site.name)`)} || ' on ' || server.folded
          from ${servers} server left join databases of_database on of_database.id = things.database_id
            left join sites of_site on of_site.id = things.site_id
          where server.id = things.server_id
        ))`,
        detail: sql`coalesce(of_database.name, of_site.name) || ' on ' || server.name`,
        status: sql`best.status`,
        serverId: sql`best.server_id`,
        siteId: sql`best.site_id`,
        from: sql`join servers server on server.id = best.server_id
          left join databases of_database on of_database.id = best.database_id
          left join sites of_site on of_site.id = best.site_id`,
      };
    case "worker":
      return {
        ...ofSite(
          sql`workers`,
          sql`queue || ' on ' || connection as name,
            case when unreachable_since is null then status else 'unreachable' end as status`,
          sql`${fold(sql`own.name`)} as folded`,
        ),
        own: sql`folded`,
        detail: sql`site.name`,
      };
    case "webhook": {
      const inSite = ofSite(
        sql`webhooks`,
        sql`url as name, description, case when paused_at is not null then 'paused' when disabled_at is not null then 'disabled'
          when failing_since is not null then 'failing' else 'enabled' end as status`,
        sql`${fold(sql`own.name`)} as folded,
          ${fold(sql`(case when own.description = '' then '' else own.description || ' · ' end)`)} as described`,
      );
      return {
        ...inSite,
        own: sql`folded || ' ' || described`,
        place: sql`described || ${inSite.place}`,
        detail: sql`concat_ws(' · ', nullif(best.description, ''), site.name)`,
      };
    }
    case "token":
      return {
        ...nothing,
        things: sql`select id, name, ${fold(sql`name`)} as folded, null::text[] as rest from tokens`,
        own: sql`folded`,
        place: sql`''`,
        serverId: noId,
        siteId: noId,
      };
  }
}
