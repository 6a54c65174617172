// Matches the names of servers, sites and databases: the places of other objects. A word has no space, so it is either in an
// object's own name or in that of one of its places. Each place is matched once, however many objects it has.
import type { SearchKind } from "../../contract/search.ts";
import type { Visible } from "../events/visible-messages.ts";
import { sql } from "../store/drizzle.ts";
import { fold, missingIn, readText, type Sql } from "./texts.ts";

/** What to search for in a kind. */
export type Asked = { kind: SearchKind; text: string; id: number | null };

/** A text, which most kinds share, the kinds to search for it, and the names of its queries. */
export type Group = ReturnType<typeof groupOf>;

/** An optimization fence: without it, PostgreSQL would compute a text again for each reference to it. */
export const once = sql`offset 0`;

/** @param place index of the text among the texts of the search */
export function groupOf(place: number, text: string, kinds: readonly Asked[], visible: Visible) {
  const named = (name: string) => sql`${sql.identifier(`${name}_${place}`)}`;
  return {
    text,
    kinds,
    visible,
    /** One row: `text`, `parts`, `beginnings`. */
    asked: named("asked"),
    parts: sql`(select parts from ${named("asked")})::text[]`,
    /** `kind` and `id` of objects with one of the words in their own names. */
    named: named("named"),
    /** All visible servers; `rest` = the patterns that the name does not match. */
    servers: named("servers"),
    /** Sites whose own name or server matches a pattern; `rest` = the patterns that neither matches, `server` = its folded name. */
    sites: named("sites"),
    databases: named("databases"),
  };
}

const isAnyOf = (column: Sql, visible: Visible): Sql =>
  visible === null ? sql`true` : sql`${column} = any (${sql.param([...visible])}::int[])`;
export const isVisible = (visible: Visible): Sql => isAnyOf(sql`server_id`, visible);

/**
 * Returns the condition for rows of a kind that may match: a word is in their own names, their id was searched for, or
 * `isInPlace`. For a caller who sees only some servers, all rows may: there are few, as the rows of other servers are excluded.
 */
export function mayBeFound(
  { kinds, named, visible }: Group,
  wanted: SearchKind,
  isInPlace: Sql,
): Sql {
  if (visible !== null) return sql`true`;
  const id = kinds.find(({ kind }) => kind === wanted)?.id ?? null;
  const ids = sql`array(select id from ${named} where kind = ${wanted}::text)`;
  return sql`(id = any (${ids}) or id = ${id}::int or ${isInPlace})`;
}

/** Returns the queries that the names of a group refer to. */
export function placesOf(group: Group): Sql {
  const { asked, parts, named, servers, visible } = group;
  const ofServer = (kind: "site" | "database", table: Sql) => sql`
    select place.id, place.server_id, place.name, place.folded, server.folded as server,
      ${missingIn(sql`place.folded`, sql`server.rest`)} as rest
    from (
      select id, server_id, name, ${fold(sql`name`)} as folded from ${table}
      where ${isVisible(visible)} and ${mayBeFound(
        group,
        kind,
        sql`server_id = any (array(
          select id from ${servers} where rest = '{}' or cardinality(rest) < cardinality(${parts})
        ))`,
      )} ${once}
    ) place join ${servers} server on server.id = place.server_id`;
  return sql`
    ${asked} as materialized (${readText(group.text)}),
    ${named} as materialized (select kind, id from search_names where folded like any (${parts})),
    ${servers} as materialized (
      select id, name, folded, ${missingIn(sql`folded`, parts)} as rest from (
        select id, name, ${fold(sql`name`)} as folded from servers where ${isAnyOf(sql`id`, visible)} ${once}
      ) own
    ),
    ${group.sites} as materialized (${ofServer("site", sql`sites`)}),
    ${group.databases} as materialized (${ofServer("database", sql`databases`)})`;
}
