/**
 * Returns the entry of a word in a table, where the word may be unknown, such as a state of another service.
 * @returns undefined for an unknown word, even if it names a property of every object
 */
export const lookUp = <Value>(
  table: Readonly<Record<string, Value>>,
  word: string,
): Value | undefined => (Object.hasOwn(table, word) ? table[word] : undefined);
