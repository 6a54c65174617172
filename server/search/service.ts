// The rules of the search: which kinds a caller may find, and how ids and names of kinds in the text are interpreted.
import type { SearchKind, SearchResults } from "../../contract/search.ts";
import { maxHits } from "../../contract/search.ts";
import { maxInteger } from "../../contract/inputs.ts";
import type { Visible } from "../events/visible-messages.ts";
import type { Database } from "../store/database.ts";
import type { Asked } from "./places.ts";
import { createSearchStore } from "./store.ts";

/** Names of each kind, in the singular, and names of the pages that objects of the kind have. */
const words = {
  server: { names: ["server"], pages: ["backup", "notification", "new"] },
  site: { names: ["site"], pages: ["worker", "webhook", "notification", "new"] },
  database: { names: ["database"], pages: [] },
  configuration: { names: ["configuration", "backup"], pages: [] },
  worker: { names: ["worker"], pages: [] },
  webhook: { names: ["webhook"], pages: [] },
  token: { names: ["token"], pages: [] },
} as const satisfies Record<SearchKind, { names: readonly string[]; pages: readonly string[] }>;

// `Object.keys` loses the type of the keys.
const kinds = Object.keys(words) as SearchKind[];

const isOneOf = (names: readonly string[], word: string): boolean =>
  names.includes(word.toLowerCase().replace(/s$/, ""));

/** Returns the words that are not in `names`, or all words if none would be left. */
function without(names: readonly string[], all: readonly string[]): string {
  const rest = all.filter((word) => !isOneOf(names, word));
  return (rest.length === 0 ? all : rest).join(" ");
}

/** Reads "7" and "#7"; null if the text is not a valid id. */
function readId(text: string): number | null {
  const [, digits] = /^#?([1-9]\d{0,9})$/.exec(text) ?? [];
  const id = Number(digits);
  return id <= maxInteger ? id : null;
}

/**
 * Returns what to search for in each kind. "worker emails" finds objects with both words, and the workers that have
 * "emails"; "shop webhooks" also finds the site that has "shop", because that has a page of webhooks.
 */
export function toAsked(text: string, visible: readonly SearchKind[]): Asked[] {
  const all = text.split(/\s+/).filter((word) => word !== "");
  if (all.length === 0) return [];
  return visible.map((kind) => {
    const { names, pages } = words[kind];
    const named = without(names, all);
    const id = readId(named);
    const paged = without([...names, ...pages], all);
    // "worker 7" names no site.
    return { kind, id, text: id === null && readId(paged) === null ? paged : named };
  });
}

type Searcher = { visible: Visible; canListTokens: boolean };

export type SearchService = {
  search(text: string, searcher: Searcher): Promise<SearchResults>;
};

export function createSearchService(db: Database): SearchService {
  const store = createSearchStore(db);
  return {
    async search(text, { visible, canListTokens }) {
      const asked = toAsked(
        text,
        kinds.filter((kind) => kind !== "token" || canListTokens),
      );
      const rows = asked.length === 0 ? [] : await store.find(asked, visible);
      return {
        data: rows.slice(0, maxHits),
        counts: Object.fromEntries(rows.map(({ kind, total }) => [kind, total])),
      };
    },
  };
}
