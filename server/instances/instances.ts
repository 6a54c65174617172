// Wires the room: which servers this instance looks after, and how requests reach the other instances.
import type { Clock } from "../clock.ts";
import type { Caller } from "../http/route.ts";
import type { Log } from "../log.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import type { Listener } from "../store/listen.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import { processMark } from "./home.ts";
import { soleLeases, type Leases } from "./leases.ts";
import type { Instance } from "./life.ts";
import { createPeers, noPeers, type Peers } from "./peers.ts";
import { createSharedLeases } from "./shared-leases.ts";

type InstancesOptions = {
  db: Database;
  /** Listens to `leasesChannel`. */
  listener: Listener;
  /** This instance among several; null = it is the only one on the database. */
  instance: Instance | null;
  /** Id of the installation. */
  installation: string;
  callerOf(tokenId: number): Promise<Caller | null>;
  publicUrl: string | null;
  clock: Clock;
  log: Log;
};

type Instances = {
  leases: Leases;
  peers: Peers;
  /** The mark of the processes on this machine. */
  mark: string;
  /** Whether the instance looks after servers and runs background work. */
  isRunner: boolean;
  /** Whether the instance serves the dashboard. */
  isApi: boolean;
};

export async function createInstances(options: InstancesOptions): Promise<Instances> {
  const { db, instance, installation, callerOf, publicUrl } = options;
  if (instance === null)
    return { leases: soleLeases, peers: noPeers, mark: installation, isRunner: true, isApi: true };
  // Only in memory: the database has its hash, so that no copy of the database lets anyone pose as an instance.
  const secret = makeSecret();
  const leases = createSharedLeases({ ...options, instance, secretHash: hashSecret(secret) });
  return {
    leases,
    peers: createPeers({
      leases,
      secret,
      isInstance: (hash) => isInstance(db, hash),
      callerOf,
      publicUrl,
    }),
    mark:
      instance.role === "api" ? installation : await processMark(db, installation, instance.home),
    isRunner: instance.role !== "api",
    isApi: instance.role !== "runner",
  };
}

/** Whether a live instance has the secret of this hash. */
async function isInstance(db: Database, secretHash: string): Promise<boolean> {
  const { rows } = await db.execute(
    sql`select from instances where secret_hash = ${secretHash} and until > clock_timestamp()`,
  );
  return rows.length > 0;
}
