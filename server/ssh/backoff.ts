const firstMs = 1000;
/** Short enough that a server that is back is in use again within 10 s. */
const longestMs = 5000;

/**
 * How long to wait after so many failed attempts to connect. Randomized, so that the servers of a network are not all tried at
 * once.
 */
export const backoffMs = (failures: number): number =>
  Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (0.75 + Math.random() / 4);
