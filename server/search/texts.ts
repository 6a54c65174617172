// How the search reads texts, in SQL.
import { sql } from "../store/drizzle.ts";

export type Sql = ReturnType<typeof sql>;

/** Without capitals and accents, as the trigger of `search_names` folds. Most names are ASCII, and normalizing takes long. */
export const fold = (text: Sql): Sql => sql`
  case when octet_length(${text}) = length(${text}) then lower(${text} collate "C")
  else lower(regexp_replace(normalize(${text}, NFKD), '[\\u0300-\\u036F]', '', 'g')) end`;

/** With a blank before each word and nothing else between them, so that a word's beginning follows a blank. */
export const spaced = (text: Sql): Sql =>
  sql`' ' || translate(${text}, '.-_/:@,;|()[]{}"''#', '                  ')`;

/** For `like`, whose wildcards are letters here. */
const escaped = (text: Sql): Sql => sql`regexp_replace(${text}, '([\\\\%_])', '\\\\\\1', 'g')`;

/** A row with the folded text, and patterns of its words: `parts` anywhere in a text, `beginnings` of words in a spaced one. */
export const readText = (given: string): Sql => sql`
  select text,
    array(select '%' || ${escaped(sql`word`)} || '%' from unnest(words) word) as parts,
    array(select '% ' || ${escaped(sql`btrim(${spaced(sql`word`)})`)} || '%' from unnest(words) word) as beginnings
  from (values (${given}::text)) as v (given), lateral (select ${fold(sql`given`)} as text) folded,
    lateral (select string_to_array(text, ' ') as words) split`;

/** The patterns that a text does not match. Most texts match none. */
export const missingIn = (text: Sql, parts: Sql): Sql => sql`
  case when ${text} like any (${parts}) then array(select part from unnest(${parts}) part where ${text} not like part)
  else ${parts} end`;
