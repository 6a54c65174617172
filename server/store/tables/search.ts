import { integer, pgTable, primaryKey, text } from "../drizzle.ts";
import type { SearchKind } from "../../../contract/search.ts";

/**
 * Names of sites, databases, configurations, workers and webhooks for the search, without those of their parents. Maintained by
 * triggers of their tables, because reading all rows and folding their names at each keystroke would cost several times as much.
 */
export const searchNames = pgTable(
  "search_names",
  {
    kind: text().$type<Exclude<SearchKind, "server" | "token">>().notNull(),
    id: integer().notNull(),
    /** A trigger of this table folds the value. */
    folded: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.id] })],
);
