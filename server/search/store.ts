// Finds things by name in one statement. It reads the folded names of all things once, which takes 3 ms for 45,000 of them, and
// assembles full texts only of matches.
import { maxHitsOfKind, type SearchHit } from "../../contract/search.ts";
import type { Visible } from "../events/visible-messages.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { executePrepared } from "../store/prepared.ts";
import { sourceOf } from "./kinds.ts";
import { groupOf, once, placesOf, type Asked } from "./places.ts";
import { spaced, type Sql } from "./texts.ts";

type SearchRow = SearchHit & {
  /** Number of matches of this kind. */
  total: number;
};

/**
 * Ranks matches, best first: the id, the name, its beginning, a word of it, a part of it; then all words, each the
 * beginning of one in the name or the place, or a part of them.
 */
const rankOf = (id: number | null, place: Sql): Sql => sql`
  case
    when id = ${id}::int then 0
    when strpos(folded, text) = 0 then
      case when ${spaced(sql`folded || ' ' || ${place}`)} like all (beginnings) then 5 else 6 end
    when folded = text then 1
    when starts_with(folded, text) then 2
    when strpos(${spaced(sql`folded`)}, ${spaced(sql`text`)}) > 0 then 3
    else 4
  end`;

export function createSearchStore(db: Database) {
  return {
    /** Returns the best matches of each kind, the best of all kinds first. */
    async find(asked: readonly Asked[], visible: Visible): Promise<SearchRow[]> {
      const groups = [...Map.groupBy(asked, ({ text }) => text)].map(([text, kinds], place) =>
        groupOf(place, text, kinds, visible),
      );
      const found = groups.flatMap((group) =>
        group.kinds.map(({ kind, id }) => {
          const source = sourceOf(kind, group);
          return sql`
            select ${kind}::text as kind, best.id, best.name, ${source.detail} as detail, ${source.status}::text as status,
              ${source.serverId} as server_id, ${source.siteId} as site_id, best.total, best.rank
            from (
              select things.*, ${rankOf(id, source.place)} as rank, (count(*) over ())::int as total
              from (${source.things} ${once}) things cross join ${group.asked}
              where ${source.own} like all (coalesce(rest, parts)) or id = ${id}::int
              order by rank, length(name), name, id limit ${maxHitsOfKind}
            ) best ${source.from}`;
        }),
      );
      const statement = sql`
        with ${sql.join(groups.map(placesOf), sql`, `)}
        select kind, id, name, detail, status, server_id, site_id, total
        from (${sql.join(found, sql` union all `)}) found
        order by rank, length(name), name, kind, id`;
      // Several groups, from a text with the name of a kind, are rare and vary the statement too much to prepare it.
      if (groups.length === 1) return executePrepared<SearchRow>(db, "search", statement);
      return (await db.execute<SearchRow>(statement)).rows;
    },
  };
}
