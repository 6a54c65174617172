/**
 * Quotes text as one word of a POSIX shell. Inside single quotes only the single quote has a meaning.
 * @throws for U+0000, which no argument of a program can contain
 */
export function quote(text: string): string {
  if (text.includes("\0")) throw new Error("An argument cannot hold the character U+0000.");
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Quotes an argument list as a command line. */
export const quoteAll = (words: readonly string[]): string => words.map(quote).join(" ");
