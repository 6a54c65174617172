// Formats counts in English, for both ends.

/**
 * Formats a count: "12", "1,234". Numbers below a thousand need no grouping, and creating the formatter takes a browser
 * milliseconds.
 */
export const countText = (count: number): string =>
  count < 1000 ? String(count) : count.toLocaleString("en");

/**
 * Formats a count with its noun: "1 row", "1,234 rows".
 * @param many the plural where it is not `one` with an s
 */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
