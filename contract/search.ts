// Search by name over all servers, which the command palette requests at each keystroke.
import * as z from "zod/mini";
import { id, stateOf } from "./values.ts";

const searchKinds = [
  "server",
  "site",
  "database",
  "configuration",
  "worker",
  "webhook",
  "token",
] as const;
export type SearchKind = (typeof searchKinds)[number];

export const maxSearchText = 200;
/** Maximum number of results of a kind, and of all kinds. */
export const maxHitsOfKind = 8;
export const maxHits = 30;

export const searchResults = z
  .object({
    /** Sorted by relevance. */
    data: z.array(
      z.object({
        kind: stateOf(searchKinds),
        id,
        name: z.string(),
        /** Where it is, e.g. the server of a site; empty for objects of the account. */
        detail: z.string(),
        status: z.nullable(z.string()),
        server_id: z.nullable(id),
        site_id: z.nullable(id),
      }),
    ),
    /** Number of matches by kind, including those that `data` leaves out. */
    counts: z.record(z.string(), z.int()),
  })
  .register(z.globalRegistry, { id: "SearchResults" });
export type SearchResults = z.infer<typeof searchResults>;
export type SearchHit = SearchResults["data"][number];
