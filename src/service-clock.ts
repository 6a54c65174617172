// The service's clock, by which everything that it reports is dated. The browser's own may be wrong by days.

/** A difference that no reader notices: what is less than a minute away is "just now". */
const tolerableMs = 60_000;
/** A response that was longer under way says too little of the moment at which it came. */
const slowMs = 5_000;

let aheadMs = 0;

/** Milliseconds since 1970. For whatever is compared with a moment that the service reports or gets. */
export const serviceNow = (): number => Date.now() + aheadMs;

/**
 * Learns the time from a response.
 * @param date its header `Date`, to the second; null = a service of another origin does not show it
 * @param askedMs when it was asked for, by the browser's clock
 */
export function learnServiceTime(date: string | null, askedMs: number): void {
  const nowMs = Date.now();
  const serviceMs = date === null ? NaN : Date.parse(date);
  if (Number.isNaN(serviceMs) || nowMs - askedMs > slowMs) return;
  const measuredMs = serviceMs - nowMs;
  // Compared with what is known, so that a difference about that large does not come and go.
  if (Math.abs(measuredMs - aheadMs) >= tolerableMs) aheadMs = measuredMs;
}
