// Starts the job engine on a test's database.
import type pg from "pg";
import type { Logger } from "pino";
import { systemClock } from "../clock.ts";
import { soleLeases } from "../instances/leases.ts";
import { startJobs, type Jobs } from "../jobs/jobs.ts";
import { jobsChannel } from "../jobs/singleton-queue.ts";
import { createLog } from "../log.ts";
import type { Database } from "../store/database.ts";
import { createListener } from "../store/listen.ts";

export async function startTestJobs(
  { connection, db }: { connection: pg.PoolConfig; db: Database },
  log: Logger = createLog("silent"),
): Promise<Jobs> {
  const listener = createListener({
    connection,
    channels: [jobsChannel],
    clock: systemClock,
    log,
  });
  const jobs = await startJobs({ connection, db, listener, leases: soleLeases, log });
  return {
    ...jobs,
    async stop(timeoutMs) {
      await jobs.stop(timeoutMs);
      await listener.stop();
    },
  };
}
