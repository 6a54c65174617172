// Sites that were opened by their id, remembered on this device for services that cannot list theirs.
import { createStore } from "../store.ts";

export type KnownSite = { address: string; id: number };

const key = "quarterdeck.sites";
const mostKept = 20;

const isKnownSite = (value: unknown): value is KnownSite =>
  typeof value === "object" &&
  value !== null &&
  "address" in value &&
  typeof value.address === "string" &&
  "id" in value &&
  typeof value.id === "number";

/** Reads what was stored; anything else than a list of known sites is none. */
export function readKnownSites(text: string | null): readonly KnownSite[] {
  try {
    const stored: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKnownSite) : [];
  } catch {
    return [];
  }
}

/** The newest first, none twice. */
export const withKnownSite = (sites: readonly KnownSite[], site: KnownSite): readonly KnownSite[] =>
  [site, ...sites.filter(({ address, id }) => address !== site.address || id !== site.id)].slice(
    0,
    mostKept,
  );

function readStored() {
  try {
    return readKnownSites(localStorage.getItem(key));
  } catch {
    // The browser forbids storage.
    return [];
  }
}

export const knownSites = createStore(readStored());

export function rememberSite(site: KnownSite): void {
  knownSites.set(withKnownSite(knownSites.get(), site));
  try {
    localStorage.setItem(key, JSON.stringify(knownSites.get()));
  } catch {
    // Then they are known until the page is closed.
  }
}
