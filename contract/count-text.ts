// Counts as both ends write them: in English, as the words around them are.

/** "12", "1,234". What is below a thousand has nothing to group, and making the format takes a browser milliseconds. */
export const countText = (count: number): string =>
  count < 1000 ? String(count) : count.toLocaleString("en");

/** "1 row", "1,234 rows". @param many where it isn't `one` with an s */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
