// How the search reads texts, in SQL.
import { sql } from "../store/drizzle.ts";

export type Sql = ReturnType<typeof sql>;

/** Removes capitals and accents, like the trigger of `search_names`. ASCII text, the most frequent, skips the slow normalization. */
export const fold = (text: Sql): Sql => sql`
  case when octet_length(${text}) = length(${text}) then lower(${text} collate "C")
  else lower(regexp_replace(normalize(${text}, NFKD), '[\\u0300-\\u036F]', '', 'g')) end`;

/** Puts a space before the text and in place of each separator, so that each word's beginning follows a space. */
export const spaced = (text: Sql): Sql =>
  sql`' ' || translate(${text}, '.-_/:@,;|()[]{}"''#', '                  ')`;

/** Escapes the wildcards of `like`, so that they match literally. */
const escaped = (text: Sql): Sql => sql`regexp_replace(${text}, '([\\\\%_])', '\\\\\\1', 'g')`;

/** Selects one row: the folded text, and patterns of its words: `parts` match anywhere, `beginnings` at words of a spaced text. */
export const readText = (given: string): Sql => sql`
  select text,
    array(select '%' || ${escaped(sql`word`)} || '%' from unnest(words) word) as parts,
    array(select '% ' || ${escaped(sql`btrim(${spaced(sql`word`)})`)} || '%' from unnest(words) word) as beginnings
  from (values (${given}::text)) as v (given), lateral (select ${fold(sql`given`)} as text) folded,
    lateral (select string_to_array(text, ' ') as words) split`;

/** Returns the patterns that a text does not match. The `case` is a shortcut, because most texts match none. */
export const missingIn = (text: Sql, parts: Sql): Sql => sql`
  case when ${text} like any (${parts}) then array(select part from unnest(${parts}) part where ${text} not like part)
  else ${parts} end`;
