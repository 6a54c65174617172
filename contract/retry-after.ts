/**
 * Parses the header `Retry-After`, in seconds or as a date (RFC 9110, section 10.2.3). A fraction of a second, which
 * some services send, is accepted.
 * @returns milliseconds after `nowMs`; null where the header is absent or invalid
 */
export function readRetryAfter(header: string | null | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // The format of C's asctime ends with the year and has no time zone; JavaScript would assume local time.
  const date = / \d{4}$/.test(text) ? `${text} GMT` : text;
  // JavaScript would parse a plain number as a year.
  const atMs = /^[A-Z]/i.test(date) ? Date.parse(date) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
