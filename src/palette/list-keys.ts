// How the keys move through a list of which one is always active.

const pageStep = 8;

/** @returns the place to move to; null for a key that does not move */
export function nextPlace(key: string, place: number, count: number): number | null {
  if (count === 0) return null;
  switch (key) {
    case "ArrowDown":
      return (place + 1) % count;
    case "ArrowUp":
      return (place + count - 1) % count;
    case "PageDown":
      return Math.min(place + pageStep, count - 1);
    case "PageUp":
      return Math.max(place - pageStep, 0);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
