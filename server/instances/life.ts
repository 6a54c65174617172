// The life of an instance: its row says until when it counts as alive, and is renewed every few seconds. Times in rows are the
// database's, because clocks of machines differ; the instance itself counts from before it sent the query.
import { randomUUID } from "node:crypto";
import type { Clock } from "../clock.ts";
import { createLoop } from "../jobs/loop.ts";
import type { Log } from "../log.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import type { InstanceRole } from "./role.ts";

/** Lease time. A killed instance is noticed after this time and one turn of another instance, so within 20 s. */
const leaseMs = 15_000;
export const turnMs = 4000;
/** How long before the end of its lease an instance gives up its servers by itself. */
const marginMs = 1000;

export type Instance = {
  name: string;
  /** Id of its data folder, and so of its machine. */
  home: string;
  role: InstanceRole;
  /** Base URL for other instances, without a trailing slash. */
  address: string;
  version: string;
};

type LifeOptions = {
  db: Database;
  instance: Instance;
  /** Of the secret by which other instances recognize this one. */
  secretHash: string;
  clock: Clock;
  log: Log;
  /** Gives up servers that other instances may take from now on. */
  onOver(): Promise<void>;
};

export function createLife({ db, instance, secretHash, clock, log, onOver }: LifeOptions) {
  let id = randomUUID();
  let validUntilMs = 0;
  let cancelExpiry: () => void = () => undefined;
  const isValid = () => performance.now() < validUntilMs;

  /**
   * Sets the end of the lease. A timer gives up the servers then, even while a turn waits, because an unreachable database may
   * never respond.
   */
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
    // Deleting a row of this table locks it, so an instance is either renewed or over.
    const { rows } = await db.execute(sql`
      update instances set until = ${until} where id = ${id} and until > clock_timestamp() returning id`);
    // A new life has begun meanwhile.
    if (asked !== id) return true;
    const isAlive = rows.length > 0;
    liveUntil(isAlive ? askedMs + leaseMs - marginMs : 0);
    return isAlive;
  }

  /**
   * Separate from the turns, because starting work for many servers may take longer than a lease. If a renewal fails, the next
   * turn handles it.
   */
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
    /** Returns the id of the present life. After its lease has expired, an instance continues under a new id. */
    id: () => id,
    isValid,

    /**
     * Renews the lease.
     * @returns false where it had expired, so that other instances may have taken its servers
     */
    renew,

    /** Begins a new life, without the servers over SSH of the previous one. */
    async begin(): Promise<void> {
      await onOver();
      const askedMs = performance.now();
      id = randomUUID();
      const { name, home, role, address, version } = instance;
      // Only one process can use a data folder, so its earlier lives are over.
      await db.execute(sql`
        with earlier as (delete from instances where home = ${home})
        insert into instances (id, name, home, role, address, version, secret_hash, until)
        values (${id}, ${name}, ${home}, ${role}, ${address}, ${version}, ${secretHash}, ${until})`);
      liveUntil(askedMs + leaseMs - marginMs);
      heartbeat.wake();
    },

    /** Stops renewing the lease. */
    async end(): Promise<void> {
      await heartbeat.stop();
      cancelExpiry();
      validUntilMs = 0;
    },
  };
}
