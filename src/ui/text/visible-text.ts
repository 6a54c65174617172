// Shows invisible characters that change how a text reads as escapes, so that a text cannot look like another one.

/**
 * Control characters except tabs and line breaks, and Unicode's format characters: bidirectional ones reverse the order
 * of text, others are invisible. U+2028 and U+2029 break lines.
 * @see https://www.unicode.org/reports/tr36/#Bidirectional_Text_Spoofing
 */
const invisible = /[^\P{Cc}\t\n\r]|[\p{Cf}\u2028\u2029]/gu;

/** Joiners are part of the spelling in some scripts, and of many emoji. */
const joiners = new Set(["\u200c", "\u200d"]);
const joinable =
  /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}\p{Script_Extensions=Arabic}\p{Script_Extensions=Devanagari}]$/u;

function escaped(character: string, at: number, text: string): string {
  if (joiners.has(character)) {
    const before = Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? "";
    const after = String.fromCodePoint(text.codePointAt(at + 1) ?? 0x20);
    if (joinable.test(before) && joinable.test(after)) return character;
  }
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

/** Returns the text with invisible characters escaped, e.g. "\u202e" in six characters. */
export const visibleText = (text: string): string => text.replace(invisible, escaped);
