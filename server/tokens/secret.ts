// Makes and splits the text of tokens, `{id}|qd_{40 random}{crc32b}`. Only its hash is stored.
import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { maxInteger } from "../../contract/inputs.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const randomLength = 40;
/** 166 random bits in one line of a terminal. */
const codeLength = 28;

const randomText = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");

/** Makes a code that is exchanged for a token. It has no prefix for secret scanners, because it works once and expires soon. */
export const makeCode = (): string => randomText(codeLength);

/** Makes the part after `{id}|`. The prefix and the checksum let secret scanners find a leaked token. */
export function makeSecret(): string {
  const body = randomText(randomLength);
  return `qd_${body}${crc32(body).toString(16).padStart(8, "0")}`;
}

/** @returns hex SHA-256. Only weak secrets need a slow hash; these have 238 random bits. */
export const hashSecret = (secret: string): string =>
  createHash("sha256").update(secret).digest("hex");

/** Splits a token as it is sent. `id` is null for a token that the operator chose. */
export function splitToken(token: string): { id: number | null; secret: string } {
  const [, id, secret] = /^(\d{1,10})\|(.+)$/.exec(token) ?? [];
  // The database rejects an id that its column cannot hold.
  return secret === undefined || Number(id) > maxInteger
    ? { id: null, secret: token }
    : { id: Number(id), secret };
}
