// Stores attempts and the new state of their deliveries, any number in one statement.
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import { storableJson } from "../store/storable.ts";
import type { webhookDeliveries } from "../store/tables/webhooks.ts";

/** An attempt, and the new state of its delivery. */
export type RecordedAttempt = {
  id: number;
  /** When the attempt was due. A row with another time was requested again meanwhile. */
  due_at: Date;
  status: (typeof webhookDeliveries.$inferSelect)["status"];
  status_reason: string | null;
  code: number | null;
  duration_ms: number;
  round_attempts: number;
  by_hand: boolean;
  is_missed: boolean;
  next_attempt_at: Date | null;
  ended_at: Date | null;
  url: string;
  started_at: Date;
  error: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, string> | null;
  response_body: string | null;
};

/**
 * The new state of a delivery. A delivery that was requested again during the attempt keeps its state: it is sent once more,
 * whatever the outcome.
 */
const judged = sql.raw(
  [
    "status",
    "status_reason",
    "round_attempts",
    "by_hand",
    "is_missed",
    "next_attempt_at",
    "ended_at",
  ]
    .map(
      (column) =>
        `${column} = case when d.by_hand and d.status = 'pending' and d.next_attempt_at is distinct from x.due_at
          then d.${column} else x.${column} end`,
    )
    .join(", "),
);

/** Deliveries that were deleted meanwhile stay deleted. */
export async function storeAttempts(
  tx: Connection,
  attempts: readonly RecordedAttempt[],
): Promise<void> {
  if (attempts.length === 0) return;
  await tx.execute(sql`
    with attempt as materialized (
      select * from json_to_recordset(${storableJson(attempts)}::json) as x(
        id int, due_at timestamptz, status text, status_reason text, code int, duration_ms int,
        round_attempts int, by_hand boolean, is_missed boolean, next_attempt_at timestamptz,
        ended_at timestamptz, url text, started_at timestamptz, error text,
        request_headers jsonb, response_headers jsonb, response_body text)
    ), changed as (
      update webhook_deliveries d set
        attempts = d.attempts + 1, code = x.code, duration_ms = x.duration_ms, ${judged}
      from attempt x
      -- The list says how few they are; of a recordset the planner expects so many that it reads the whole table.
      where d.id = x.id and d.id = any(${sql.param(attempts.map(({ id }) => id))}::int[])
      returning d.id
    )
    insert into webhook_attempts
      (delivery_id, url, started_at, duration_ms, code, error, request_headers, response_headers, response_body)
    select id, url, started_at, duration_ms, code, error, request_headers, response_headers, response_body
    from attempt join changed using (id)`);
}
