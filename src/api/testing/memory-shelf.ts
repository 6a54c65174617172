import type { Shelf } from "../kept-session.ts";

/** A browser's storage, for as long as a test lasts. */
export function memoryShelf(): Shelf {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}
