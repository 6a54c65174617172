// Rate limits per minute, counted in memory, or in the database where several instances share one.
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";

type Limiter = {
  /** @throws RateLimiterRes if fewer points are left */
  consume(key: string | number, points?: number): Promise<RateLimiterRes>;
};

/** @param keyPrefix distinguishes its keys from those of other limits */
export type MakeLimiter = (keyPrefix: string, points: number) => Limiter;

const duration = 60;
const durationMs = duration * 1000;

/** Limits that one instance counts in memory. */
export const ownLimiters: MakeLimiter = (keyPrefix, points) =>
  new RateLimiterMemory({ keyPrefix, points, duration });

/** Milliseconds since 1970 by the database's clock, because the clocks of instances differ. */
const nowMs = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** Whether a row's minute is not over. An end that is more than a minute ahead was set by a wrong clock, and does not count. */
const counts = sql`rate_limits.expire > ${nowMs} and rate_limits.expire <= ${nowMs} + ${durationMs}`;

/** Limits that all instances on a database share. */
export const sharedLimiters =
  (db: Database): MakeLimiter =>
  (keyPrefix, points) => ({
    async consume(key, consumed = 1) {
      const { rows } = await db.execute<{ points: number; left_ms: number }>(sql`
        insert into rate_limits (key, points, expire) values (${`${keyPrefix}:${key}`}, ${consumed}, ${nowMs} + ${durationMs})
        on conflict (key) do update set
          points = case when ${counts} then rate_limits.points + excluded.points else excluded.points end,
          expire = case when ${counts} then rate_limits.expire else excluded.expire end
        returning points, (expire - ${nowMs})::int as left_ms`);
      const { points: used = consumed, left_ms: leftMs = durationMs } = rows[0] ?? {};
      const state = new RateLimiterRes(
        Math.max(0, points - used),
        Math.max(0, leftMs),
        used,
        used === consumed,
      );
      if (used > points) throw state;
      return state;
    },
  });

/** Deletes rows that no longer count. */
export async function pruneLimits(db: Database): Promise<void> {
  await db.execute(sql`delete from rate_limits where not (${counts})`);
}
