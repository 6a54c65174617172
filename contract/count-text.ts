// Formats counts in English, like the text around them.

/**
 * "12", "1,234". Numbers below 1000 are not grouped, which avoids creating a formatter: that takes a browser
 * milliseconds.
 */
export const countText = (count: number): string =>
  count < 1000 ? String(count) : count.toLocaleString("en");

/**
 * "1 row", "1,234 rows".
 * @param many the plural, by default `one` with an s
 */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
