// The connections to PostgreSQL in figures, from the pool itself: they are there when the database is not.
import type { OpenDatabase } from "../store/database.ts";
import type { Figure } from "./part.ts";

export function poolFigures(pool: OpenDatabase["pool"]): Figure[] {
  const { open, idle, waiting, most } = pool();
  return [
    {
      name: "quarterdeck_database_connections",
      help: "Open connections to the database.",
      values: [
        { labels: { state: "idle" }, value: idle },
        { labels: { state: "busy" }, value: open - idle },
      ],
    },
    {
      name: "quarterdeck_database_connections_max",
      help: "The most connections there may be.",
      values: [{ value: most }],
    },
    {
      name: "quarterdeck_database_connection_waiters",
      help: "Queries that wait for a connection.",
      values: [{ value: waiting }],
    },
  ];
}
