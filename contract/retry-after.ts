/**
 * Reads the header `Retry-After`, in seconds or as a date (RFC 9110, section 10.2.3). A fraction of a second, which some
 * services send, counts as well.
 * @returns milliseconds from `nowMs` on; null where it is absent or neither
 */
export function readRetryAfter(header: string | null | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // The format of C's asctime has no zone, and JavaScript would read it as local time.
  const date = / \d{4}$/.test(text) ? `${text} GMT` : text;
  // JavaScript would read a number as a year.
  const atMs = /^[A-Z]/i.test(date) ? Date.parse(date) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
