// How often something may happen in a minute: counted here, or in the database where several instances share one.
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  type RateLimiterAbstract,
} from "rate-limiter-flexible";
import type { Database } from "../store/database.ts";
import { lt } from "../store/drizzle.ts";
import { rateLimits } from "../store/tables.ts";

/** @param keyPrefix tells its keys from those of other limits */
export type MakeLimiter = (keyPrefix: string, points: number) => RateLimiterAbstract;

const duration = 60;

/** What one instance counts for itself. */
export const ownLimiters: MakeLimiter = (keyPrefix, points) =>
  new RateLimiterMemory({ keyPrefix, points, duration });

/** What all instances on a database count together. */
export const sharedLimiters =
  (db: Database): MakeLimiter =>
  (keyPrefix, points) =>
    new RateLimiterPostgres({
      keyPrefix,
      points,
      duration,
      tableName: "rate_limits",
      tableCreated: true,
      clearExpiredByTimeout: false,
      storeType: "client",
      storeClient: db.$client,
    });

/** Removes what counts no more. */
export async function pruneLimits(db: Database, nowMs: number): Promise<void> {
  await db.delete(rateLimits).where(lt(rateLimits.expire, nowMs));
}
