// Wires the room: which servers this instance looks after, and how requests reach the other instances.
import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Caller } from "../http/route.ts";
import type { Log } from "../log.ts";
import type { Database } from "../store/database.ts";
import { sql } from "../store/drizzle.ts";
import type { Listener } from "../store/listen.ts";
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
  const leases = createSharedLeases({ ...options, instance });
  return {
    leases,
    peers: createPeers({ leases, secret: await peerSecret(db), callerOf, publicUrl }),
    mark:
      instance.role === "api" ? installation : await processMark(db, installation, instance.home),
    isRunner: instance.role !== "api",
    isApi: instance.role !== "runner",
  };
}

/** Returns the secret that the instances share; the first one to start creates it. */
async function peerSecret(db: Database): Promise<string> {
  const key = "peer_secret";
  const made = randomBytes(32).toString("base64url");
  await db.execute(
    sql`insert into settings (key, value) values (${key}, ${made}) on conflict do nothing`,
  );
  const { rows } = await db.execute<{ value: string }>(
    sql`select value from settings where key = ${key}`,
  );
  return rows[0]?.value ?? made;
}
