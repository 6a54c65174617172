// A runner's hold on a job, and what keeps it while its outcome is recorded.
import type { Connection } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";

/** The attempt is the fencing token: each new claim of the job has a higher one. */
export type Claim = { id: string; attempt: number };

/** Somebody else has the job now, or it is over: whatever this runner still does must change nothing. */
export class ClaimLost extends Error {
  override name = "ClaimLost";
  constructor() {
    super("The job's claim is gone: this runner was thought dead, or the job was ended.");
  }
}

/** The condition under which a row of the engine's table is held by a claim. */
export const isHeldBy = (queue: string, { id, attempt }: Claim) =>
  sql`name = ${queue} and id = ${id}::uuid and state = 'active' and retry_count = ${attempt}`;

/** Locks a job for its holder. @returns false when the claim is gone; else it cannot be lost until the transaction ends */
export async function lockClaim(tx: Connection, queue: string, claim: Claim): Promise<boolean> {
  const { rows } = await tx.execute(
    sql`select id from pgboss.job where ${isHeldBy(queue, claim)} for update`,
  );
  return rows.length > 0;
}

/** Keeps claims from being lost until the transaction ends. @returns the ids of the jobs that are still held */
export async function holdClaims(
  tx: Connection,
  queue: string,
  claims: readonly Claim[],
): Promise<Set<string>> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    select id from pgboss.job
    where name = ${queue} and state = 'active' and (id, retry_count) in (
      select id, attempt from json_to_recordset(${JSON.stringify(claims)}::json) as claimed(id uuid, attempt int)
    )
    order by id for share`);
  return new Set(rows.map(({ id }) => id));
}
