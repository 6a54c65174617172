// Finds things by name in one statement. It reads every row that may be seen: for some thousands that takes a few
// milliseconds, and an index over parts of words would need an extension.
import { maxHitsOfKind, type SearchHit, type SearchKind } from "../../contract/search.ts";
import type { Visible } from "../events/visible-messages.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";

/** What is looked for among the things of a kind. */
export type Asked = { kind: SearchKind; text: string; id: number | null };

type SearchRow = SearchHit & {
  /** How many of this kind were found. */
  total: number;
};

type Sql = ReturnType<typeof sql>;

/** Without capitals and accents. Most names are ASCII, and normalizing them would take most of the time. */
const fold = (text: Sql): Sql => sql`
  case when octet_length(${text}) = length(${text}) then lower(${text} collate "C")
  else lower(regexp_replace(normalize(${text}, NFKD), '[\\u0300-\\u036F]', '', 'g')) end`;

/** With a blank before each word and nothing else between them, so that a word's beginning follows a blank. */
const spaced = (text: Sql): Sql =>
  sql`' ' || translate(${text}, '.-_/:@,;|()[]{}"''#', '                  ')`;

/** Each kind's things that may be seen: name, place and state; `extra` is found too and not shown. */
const things = (visible: Visible): Sql => {
  const ofVisible = (column: Sql) =>
    visible === null ? sql`true` : sql`${column} = any(${sql.param([...visible])}::int[])`;
  return sql`
    select 'server' as kind, id, name, '' as detail, '' as extra, null as status,
      id as server_id, null::int as site_id
    from servers where ${ofVisible(sql`id`)}
    union all
    select 'site', s.id, s.name, v.name, '', null, s.server_id, s.id
    from sites s join servers v on v.id = s.server_id where ${ofVisible(sql`s.server_id`)}
    union all
    select 'database', d.id, d.name, v.name, d.entry ->> 'engine', null, d.server_id, null
    from databases d join servers v on v.id = d.server_id where ${ofVisible(sql`d.server_id`)}
    union all
    select 'configuration', c.id, c.name, coalesce(d.name, s.name) || ' on ' || v.name, '', c.status,
      c.server_id, c.site_id
    from backup_configurations c join servers v on v.id = c.server_id
      left join databases d on d.id = c.database_id left join sites s on s.id = c.site_id
    where ${ofVisible(sql`c.server_id`)}
    union all
    select 'worker', w.id, w.queue || ' on ' || w.connection, s.name, v.name, w.status, s.server_id, s.id
    from workers w join sites s on s.id = w.site_id join servers v on v.id = s.server_id
    where ${ofVisible(sql`s.server_id`)}
    union all
    select 'webhook', h.id, h.url, concat_ws(' · ', nullif(h.description, ''), s.name), v.name,
      case when h.paused_at is not null then 'paused' when h.disabled_at is not null then 'disabled'
      when h.failing_since is not null then 'failing' else 'enabled' end, s.server_id, s.id
    from webhooks h join sites s on s.id = h.site_id join servers v on v.id = s.server_id
    where ${ofVisible(sql`s.server_id`)}
    union all
    select 'token', id, name, '', '', null, null, null from tokens`;
};

/** For `like`, whose wildcards are letters here. */
const escaped = (text: Sql): Sql => sql`regexp_replace(${text}, '([\\\\%_])', '\\\\\\1', 'g')`;

/**
 * From the best to the worst: the id, the name, its beginning, a word of it, a part of it; then all words, each the
 * beginning of one in the name or the place, or a part of them.
 */
const rank = sql`
  case
    when id = asked_id then 0
    when strpos(folded, text) = 0 then
      case when ${spaced(sql`whole`)} like all (beginnings) then 5 else 6 end
    when folded = text then 1
    when starts_with(folded, text) then 2
    when strpos(${spaced(sql`folded`)}, ${spaced(sql`text`)}) > 0 then 3
    else 4
  end`;

export function createSearchStore(db: Database) {
  return {
    /** @returns the best of each kind, the best of all first */
    async find(asked: readonly Asked[], visible: Visible): Promise<SearchRow[]> {
      const kinds = sql.param(asked.map(({ kind }) => kind));
      const texts = sql.param(asked.map(({ text }) => text));
      const ids = sql.param(asked.map(({ id }) => id));
      const { rows } = await db.execute<SearchRow>(sql`
        with asked as materialized (
          select kind, asked_id, text,
            array(select '%' || ${escaped(sql`word`)} || '%' from unnest(words) word) as parts,
            array(select '% ' || ${escaped(sql`btrim(${spaced(sql`word`)})`)} || '%' from unnest(words) word)
              as beginnings
          from unnest(${kinds}::text[], ${texts}::text[], ${ids}::int[]) as a (kind, given, asked_id),
            lateral (select ${fold(sql`given`)} as text) folded,
            lateral (select string_to_array(text, ' ') as words) split
        ), found as materialized (
          -- Without “offset 0” the texts would be put together once for each place where they are read.
          select things.*, asked_id, text, beginnings from (
            select *, ${fold(sql`(name || ' ' || detail || ' ' || extra)`)} as whole from (${things(visible)}) seen offset 0
          ) things join asked using (kind)
          where whole like all (parts) or id = asked_id
        ), ranked as materialized (
          select named.*, ${rank} as rank from (select *, ${fold(sql`name`)} as folded from found offset 0) named
        ), counted as (
          select *, count(*) over (partition by kind)::int as total,
            row_number() over (partition by kind order by rank, length(name), name, id) as place
          from ranked
        )
        select kind, id, name, detail, status, server_id, site_id, total from counted
        where place <= ${maxHitsOfKind}
        order by rank, length(name), name, kind, id`);
      return rows;
    },
  };
}
