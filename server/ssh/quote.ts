// The one place where something is quoted for a POSIX shell.

/**
 * A word that every POSIX shell reads as exactly this text. Inside single quotes nothing has a meaning but the quote.
 * @throws for U+0000, which no argument of a program can hold
 */
export function quote(text: string): string {
  if (text.includes("\0")) throw new Error("An argument cannot hold the character U+0000.");
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A command of an argument list. */
export const quoteAll = (words: readonly string[]): string => words.map(quote).join(" ");
