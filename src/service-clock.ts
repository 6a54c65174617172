// The service's clock, which dates everything that it reports. The browser's own may be wrong by days.

/** Smaller differences are not visible: less than a minute ago is "just now". */
const tolerableMs = 60_000;
/** The date of a slower response is too imprecise. */
const slowMs = 5_000;

let aheadMs = 0;

/** Returns the service's time in milliseconds since 1970, for comparison with times of the service. */
export const serviceNow = (): number => Date.now() + aheadMs;

/**
 * Measures the service's time by a response.
 * @param date its header `Date`, in seconds; null = hidden by a service of another origin
 * @param askedMs when the request was sent, by the browser's clock
 */
export function learnServiceTime(date: string | null, askedMs: number): void {
  const nowMs = Date.now();
  const serviceMs = date === null ? NaN : Date.parse(date);
  if (Number.isNaN(serviceMs) || nowMs - askedMs > slowMs) return;
  const measuredMs = serviceMs - nowMs;
  // Compared with the present value, so that a difference near the limit does not alternate.
  if (Math.abs(measuredMs - aheadMs) >= tolerableMs) aheadMs = measuredMs;
}
