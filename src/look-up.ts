/**
 * What a table of known words says of one that may be none of them, such as a state that only another service has.
 * @returns undefined for a word that is not in the table, even where every object has such a property
 */
export const lookUp = <Value>(
  table: Readonly<Record<string, Value>>,
  word: string,
): Value | undefined => (Object.hasOwn(table, word) ? table[word] : undefined);
