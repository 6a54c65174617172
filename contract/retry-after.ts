/**
 * Reads the header `Retry-After`, in seconds or as a date (RFC 9110, section 10.2.3). A fraction of a second, which some
 * services send, counts as well.
 * @returns milliseconds from `nowMs` on; null where it is absent or neither
 */
export function readRetryAfter(header: string | null | undefined, nowMs: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // JavaScript would take a mere number for a year.
  const atMs = /^[A-Z]/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
