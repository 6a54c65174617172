// Sites and servers that were opened by id, stored on this device for services that cannot list theirs.
import { attempt } from "../../api/kept-session.ts";
import { createStore } from "../../store.ts";

export type KnownPlace = { address: string; id: number };

const maxKept = 20;

const isKnownPlace = (value: unknown): value is KnownPlace =>
  typeof value === "object" &&
  value !== null &&
  "address" in value &&
  typeof value.address === "string" &&
  "id" in value &&
  typeof value.id === "number";

/** Parses the stored list; anything invalid is dropped. */
export function readKnownPlaces(text: string | null): readonly KnownPlace[] {
  try {
    const stored: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKnownPlace) : [];
  } catch {
    return [];
  }
}

/** Adds a place, newest first and without duplicates. */
export const withKnownPlace = (
  places: readonly KnownPlace[],
  place: KnownPlace,
): readonly KnownPlace[] =>
  [
    place,
    ...places.filter(({ address, id }) => address !== place.address || id !== place.id),
  ].slice(0, maxKept);

function keepKnown(key: string) {
  const store = createStore(readKnownPlaces(attempt(() => localStorage.getItem(key))));
  return {
    ...store,
    remember(place: KnownPlace): void {
      store.set(withKnownPlace(store.get(), place));
      attempt(() => localStorage.setItem(key, JSON.stringify(store.get())));
    },
  };
}

export const knownSites = keepKnown("quarterdeck.sites");
export const knownServers = keepKnown("quarterdeck.servers");
