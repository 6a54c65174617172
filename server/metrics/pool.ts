// Metrics of the connections to PostgreSQL, from the pool itself, so they are available while the database is down.
import type { OpenDatabase } from "../store/database.ts";
import type { Metric } from "./part.ts";

export function poolMetrics(pool: OpenDatabase["pool"]): Metric[] {
  const { open, idle, waiting, max } = pool();
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
      values: [{ value: max }],
    },
    {
      name: "quarterdeck_database_connection_waiters",
      help: "Queries that wait for a connection.",
      values: [{ value: waiting }],
    },
  ];
}
