// Search by name over all servers, as the command palette requests it at each key.
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
/** Maximum number of results of a kind, and in total. */
export const maxHitsOfKind = 8;
export const maxHits = 30;

export const searchResults = z
  .object({
    /** Best matches first. */
    data: z.array(
      z.object({
        kind: stateOf(searchKinds),
        id,
        name: z.string(),
        /** Where the result is, e.g. a site's server; empty for what belongs to the account. */
        detail: z.string(),
        status: z.nullable(z.string()),
        server_id: z.nullable(id),
        site_id: z.nullable(id),
      }),
    ),
    /** Number of results of each kind, including those that `data` leaves out. */
    counts: z.record(z.string(), z.int()),
  })
  .register(z.globalRegistry, { id: "SearchResults" });
export type SearchResults = z.infer<typeof searchResults>;
export type SearchHit = SearchResults["data"][number];
