// The text of a token: `{id}|qd_{40 random}{crc32b}`. What is stored is its hash.
import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { maxInteger } from "../../contract/inputs.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const randomLength = 40;
/** 166 random bits in one line of a terminal. */
const codeLength = 28;

const randomText = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");

/** A code that is exchanged for a token. It need not be found by scanners: it is short-lived, and of one use. */
export const makeCode = (): string => randomText(codeLength);

/** The part after `{id}|`. The prefix and the checksum let secret scanners find one that leaked. */
export function makeSecret(): string {
  const body = randomText(randomLength);
  return `qd_${body}${crc32(body).toString(16).padStart(8, "0")}`;
}

/** Hex SHA-256. A slow hash would protect weak secrets; these have 238 random bits. */
export const hashSecret = (secret: string): string =>
  createHash("sha256").update(secret).digest("hex");

/** Splits a token as it is sent; one from the environment has no id. */
export function splitToken(token: string): { id: number | null; secret: string } {
  const [, id, secret] = /^(\d{1,10})\|(.+)$/.exec(token) ?? [];
  // The database would refuse to look for an id that its column cannot hold.
  return secret === undefined || Number(id) > maxInteger
    ? { id: null, secret: token }
    : { id: Number(id), secret };
}
