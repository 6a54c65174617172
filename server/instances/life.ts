// The life of an instance: its row says until when the others may believe that it lives, and is renewed every few seconds. All
// moments are the database's, because machines disagree about theirs; for itself an instance counts from before it asked.
import { randomUUID } from "node:crypto";
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import type { Log } from "../log.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import type { InstanceRole } from "./role.ts";

/** A killed instance is noticed after the first and one turn of another one: within 20 s. */
const leaseMs = 15_000;
export const turnMs = 4000;
/** So long before the others may take its servers it lets them go itself. */
const marginMs = 1000;

export type Instance = {
  name: string;
  /** Of its data folder: what is on this machine is nobody else's. */
  home: string;
  role: InstanceRole;
  /** Where the others reach it, without a slash at the end. */
  address: string;
  version: string;
};

type LifeOptions = {
  db: Database;
  instance: Instance;
  clock: Clock;
  log: Log;
  /** Lets go of what may be somebody else's from now on. */
  onOver(): Promise<void>;
};

export function createLife({ db, instance, clock, log, onOver }: LifeOptions) {
  let id = randomUUID();
  let validUntilMs = 0;
  let cancelExpiry: () => void = () => undefined;
  const isValid = () => performance.now() < validUntilMs;

  /** When that comes it lets go, whatever a turn waits for just then: a database that is cut off does not answer at all. */
  function liveUntil(untilMs: number): void {
    validUntilMs = untilMs;
    cancelExpiry();
    cancelExpiry = clock.after(Math.max(0, Math.ceil(untilMs - performance.now())), () => {
      if (isValid()) return;
      onOver().catch((error: unknown) =>
        log.error({ err: error }, "servers could not be let go of; the next turn does"),
      );
    });
  }

  const until = sql`clock_timestamp() + make_interval(secs => ${leaseMs / 1000})`;

  async function renew(): Promise<boolean> {
    const askedMs = performance.now();
    const asked = id;
    // Whoever deletes a row of this table locks it: an instance is either renewed or over.
    const { rows } = await db.execute(sql`
      update instances set until = ${until} where id = ${id} and until > clock_timestamp() returning id`);
    // Another life has begun meanwhile.
    if (asked !== id) return true;
    const isAlive = rows.length > 0;
    liveUntil(isAlive ? askedMs + leaseMs - marginMs : 0);
    return isAlive;
  }

  /** Beside the turns, because to begin with many servers may take longer than a lease. The next turn sees to one that ended. */
  const heartbeat = createLoop({
    name: "heartbeats of this instance",
    everyMs: turnMs,
    async turn() {
      await renew();
    },
    clock,
    log,
  });

  return {
    /** Of this life: one whose time ran out is over, and goes on as another one. */
    id: () => id,
    isValid,

    /** Says that it lives. @returns false where its time ran out before, so that its servers may be somebody else's by now */
    renew,

    /** Begins another life, without what it had over SSH in the one before. */
    async begin(): Promise<void> {
      await onOver();
      const askedMs = performance.now();
      id = randomUUID();
      const { name, home, role, address, version } = instance;
      // Only one process can have a data folder: earlier lives of it are over.
      await db.execute(sql`
        with earlier as (delete from instances where home = ${home})
        insert into instances (id, name, home, role, address, version, until)
        values (${id}, ${name}, ${home}, ${role}, ${address}, ${version}, ${until})`);
      liveUntil(askedMs + leaseMs - marginMs);
      heartbeat.wake();
    },

    /** Says no longer that it lives. */
    async end(): Promise<void> {
      await heartbeat.stop();
      cancelExpiry();
      validUntilMs = 0;
    },
  };
}
