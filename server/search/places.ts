// Which servers, sites and databases have words of a text in their names. A word has no blank, so it is in a thing's own name
// or in one of its places; what a place has is found out once, for however many things are there.
import type { SearchKind } from "../../contract/search.ts";
import type { Visible } from "../events/visible-messages.ts";
import { sql } from "../store/drizzle.ts";
import { fold, missingIn, readText, type Sql } from "./texts.ts";

/** What to search for in a kind. */
export type Asked = { kind: SearchKind; text: string; id: number | null };

/** What is asked for of one text, which most kinds share, and the names of its queries. */
export type Group = ReturnType<typeof groupOf>;

/** An optimization fence: without it PostgreSQL would build a text again for each reference to it. */
export const once = sql`offset 0`;

/** @param place of its text among those that are looked for */
export function groupOf(place: number, text: string, kinds: readonly Asked[], visible: Visible) {
  const named = (name: string) => sql`${sql.identifier(`${name}_${place}`)}`;
  return {
    text,
    kinds,
    visible,
    /** One row: `text`, `parts`, `beginnings`. */
    asked: named("asked"),
    parts: sql`(select parts from ${named("asked")})::text[]`,
    /** `kind` and `id` of what has one of the words in its own name. */
    named: named("named"),
    /** Every server; `rest` = the patterns that its name does not match. */
    servers: named("servers"),
    /** Those for which a pattern matches their own name or their server's; `rest` of both, `server` = its folded name. */
    sites: named("sites"),
    databases: named("databases"),
  };
}

const isAnyOf = (column: Sql, visible: Visible): Sql =>
  visible === null ? sql`true` : sql`${column} = any (${sql.param([...visible])}::int[])`;
export const isVisible = (visible: Visible): Sql => isAnyOf(sql`server_id`, visible);

/**
 * Which rows of a kind may be found: those with a word in their own names, by their ids, and those whose places say so. Who sees
 * some servers alone is shown what is on these, so all of that is looked at.
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
