// Classifies bytes and short tokens of SQL text, as needed to find the ends of statements.

export type SqlDialect = "postgres" | "mysql";

export const newline = 0x0a;
export const carriageReturn = 0x0d;
export const semicolon = 0x3b;
export const backslash = 0x5c;
export const quote = 0x27;
export const doubleQuote = 0x22;
export const backtick = 0x60;
const dash = 0x2d;
const hash = 0x23;
const slash = 0x2f;
export const star = 0x2a;
export const dollar = 0x24;
export const dot = 0x2e;

export const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

export const isNameByte = (byte: number): boolean =>
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x30 && byte <= 0x39) ||
  byte === 0x5f ||
  byte >= 0x80;

/** Whether a byte is a digit, or a separator in a list of numbers. */
export const isPlain = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || byte === 0x2c || byte === dot || byte === 0x20;

/** @returns the offset after a name or number that begins here */
export function wordEnd(data: Buffer, from: number, isPostgres: boolean): number {
  let at = from + 1;
  const first = data[from] ?? 0;
  // After a number, a dollar begins a quote.
  const mayHaveDollars = isPostgres && !(first >= 0x30 && first <= 0x39);
  for (; at < data.length; at += 1) {
    const byte = data[at] ?? 0;
    if (!isNameByte(byte) && !(mayHaveDollars && byte === dollar)) break;
  }
  return at;
}

/** @returns the offset after the closing quote of a name whose opening quote is here; -1 = it is not in the data */
export function quotedNameEnd(data: Buffer, from: number): number {
  const mark = data[from] ?? 0;
  for (let at = data.indexOf(mark, from + 1); at >= 0; at = data.indexOf(mark, at + 2)) {
    if (at + 1 === data.length) return -1;
    if (data[at + 1] !== mark) return at + 1;
  }
  return -1;
}

/** @returns the `$tag$` that begins here; null = none, "unknown" = its end is not in the data */
export function dollarTag(data: Buffer, from: number): Buffer | null | "unknown" {
  for (let at = from + 1; at < data.length; at += 1) {
    const byte = data[at] ?? 0;
    if (byte === dollar) return Buffer.from(data.subarray(from, at + 1));
    // `$1` is a parameter.
    if (!isNameByte(byte) || (at === from + 1 && byte >= 0x30 && byte <= 0x39)) return null;
  }
  return "unknown";
}

/** Most bytes of the opening of an executed comment: with MariaDB's letter and the digits of a version. */
export const executedSight = 12;
/** Version of a comment that no server runs: dump tools write it to stop older clients. */
const noVersion = "999999";

/** @returns the length of the opening of a comment whose content MySQL or MariaDB runs; null = a plain comment */
function executedOpening(data: Buffer, at: number): number | null {
  const text = data.toString("latin1", at, at + executedSight);
  const [opening = "", version = ""] = /^\/\*M?!(\d{0,6})/.exec(text) ?? [];
  return opening === "" || version === noVersion ? null : opening.length;
}

/** Comments for versions below this one are run by every supported server. */
const skippedSince = 50700;

/** Whether some servers ignore the executed comment that opens here, because it is for a newer version, or for MySQL or MariaDB alone. */
export function isSkippedBySome(data: Buffer, at: number): boolean {
  const text = data.toString("latin1", at, at + executedSight);
  const [, letter, version = ""] = /^\/\*(M?)!(\d{0,6})/.exec(text) ?? [];
  return letter === "M" || Number(version) >= skippedSince;
}

/** Whether only servers treat `--` here as a comment, not clients: before control characters, or spaces of other character sets. */
export function isDoubtfulComment(data: Buffer, at: number): boolean {
  if (data[at] !== dash || data[at + 1] !== dash) return false;
  const after = data[at + 2] ?? newline;
  return !isBlank(after) && (after < 0x20 || after >= 0x7f);
}

export function hasHighBytes(data: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if ((data[at] ?? 0) >= 0x80) return true;
  return false;
}

type Comment = {
  is: "line comment" | "block comment" | "executed" | "end of executed";
  /** Length of what opens or ends it. */
  bytes: number;
};

/** @param isExecuted whether an executed comment is open @returns what begins or ends here; null = nothing */
export function commentAt(
  data: Buffer,
  at: number,
  { isPostgres, isExecuted }: { isPostgres: boolean; isExecuted: boolean },
): Comment | null {
  const [byte, next] = [data[at], data[at + 1]];
  const afterDashes = data[at + 2] ?? newline;
  if (byte === dash && next === dash && (isPostgres || isBlank(afterDashes)))
    return { is: "line comment", bytes: 2 };
  if (byte === hash && !isPostgres) return { is: "line comment", bytes: 1 };
  if (isExecuted && endsBlock(data, at)) return { is: "end of executed", bytes: 2 };
  if (!opensBlock(data, at)) return null;
  const opening = isPostgres ? null : executedOpening(data, at);
  return opening === null ? { is: "block comment", bytes: 2 } : { is: "executed", bytes: opening };
}

export const opensBlock = (data: Buffer, at: number): boolean =>
  data[at] === slash && data[at + 1] === star;
export const endsBlock = (data: Buffer, at: number): boolean =>
  data[at] === star && data[at + 1] === slash;

export function countLines(data: Buffer, from: number, to: number): number {
  let lines = 0;
  for (let at = data.indexOf(newline, from); at >= 0 && at < to; at = data.indexOf(newline, at + 1))
    lines += 1;
  return lines;
}
