import type { Session } from "./kept-session.ts";

/** FNV-1a, 32 bits. */
function hash(text: string, seed: number): string {
  let mark = seed;
  for (const character of text)
    mark = Math.imul(mark ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return mark.toString(36);
}

/**
 * Identifies a session within this browser where the token itself must not appear. It does not protect the token as a
 * secret, and never leaves the browser.
 */
export const sessionMark = ({ address = "", token = "" }: Partial<Session> = {}): string =>
  hash(`${address} ${token}`, 0x811c9dc5) + hash(`${token} ${address}`, 0xcbf29ce4);
