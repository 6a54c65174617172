// Finds things by their names over all servers: what the command palette asks for at each key.
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
/** The response holds at most so many hits of a kind, and so many in all. */
export const maxHitsOfKind = 8;
export const maxHits = 30;

export const searchResults = z
  .object({
    /** The best first. */
    data: z.array(
      z.object({
        kind: stateOf(searchKinds),
        id,
        name: z.string(),
        /** Where it is, e.g. a site's server; empty for what belongs to the account. */
        detail: z.string(),
        status: z.nullable(z.string()),
        server_id: z.nullable(id),
        site_id: z.nullable(id),
      }),
    ),
    /** How many were found of each kind that was found, the ones left out of `data` included. */
    counts: z.record(z.string(), z.int()),
  })
  .register(z.globalRegistry, { id: "SearchResults" });
export type SearchResults = z.infer<typeof searchResults>;
export type SearchHit = SearchResults["data"][number];
