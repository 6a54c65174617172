// Which instance of the service looks after which server. A single instance looks after all.
import type { Connection } from "../store/database.ts";
import type { SQL } from "../store/drizzle.ts";
import { ServiceError, unavailable } from "../http/service-error.ts";

/** This instance no longer looks after the server, so nothing that it still does for the server may change anything. */
export class LeaseLost extends ServiceError {
  override name = "LeaseLost";
  constructor() {
    super("unavailable", "The server was handed to another instance just now. Try again.", {
      "Retry-After": "1",
    });
  }
}

/** The instance that looks after a server; `address` is its base URL for other instances, without a trailing slash. */
export type Owner = { name: string; address: string };

/** Callbacks with ids of servers. They are awaited before the servers can change hands again. */
export type LeaseListener = {
  /** Whether a long task runs for the server, so that it should not be handed over now. */
  isBusy(serverId: number): boolean;
  taken(serverIds: readonly number[]): Promise<void>;
  lost(serverIds: readonly number[]): Promise<void>;
  /**
   * Called with servers that this instance has kept, but that others may have reported as abandoned while its lease had expired.
   */
  regained(serverIds: readonly number[]): Promise<void>;
  /** Called with servers that no instance has looked after for a while, and that this instance cannot take. */
  abandoned(servers: readonly Abandoned[]): Promise<void>;
};

/** A server, and the name of the last instance that looked after it. */
type Abandoned = { id: number; instance: string };

export type Leases = {
  /** Whether servers can pass to other instances. */
  isShared: boolean;
  /** Whether this instance looks after the server now. */
  has(serverId: number): boolean;
  /** Returns the servers that this instance does not look after. */
  elsewhere(): readonly number[];
  /** Returns a condition for rows that this instance may write, by their `serverId`; undefined = all rows. */
  condition(serverId: SQL): SQL | undefined;
  /**
   * Keeps the server's lease until the transaction ends.
   * @throws LeaseLost
   */
  hold(tx: Connection, serverId: number): Promise<void>;
  /**
   * Keeps the lease of the site's server until the transaction ends.
   * @throws LeaseLost
   */
  holdOfSite(tx: Connection, siteId: number): Promise<void>;
  /**
   * Keeps the leases that this instance has of several servers until the transaction ends.
   * @returns those servers
   */
  holdThose(tx: Connection, serverIds: readonly number[]): Promise<ReadonlySet<number>>;
  /**
   * Prevents taking a server without an instance until the transaction ends.
   * @throws LeaseLost where an instance looks after it
   */
  holdFree(tx: Connection, serverId: number): Promise<void>;
  /** Returns the instance that looks after the server; null = none. */
  ownerOf(serverId: number): Promise<Owner | "this" | null>;
  /** Checks now which servers can be taken, and which are lost. */
  wake(): void;
  /** Starts to take servers, and to call the listener. Resolves once the first servers are taken. */
  start(listener: LeaseListener): Promise<void>;
  /** Stops taking servers. The present ones are kept. */
  stop(): Promise<void>;
  /** Releases all servers at once. After that, no work may be done for them. */
  release(): Promise<void>;
};

/** For a single instance, which always has all servers. */
export const soleLeases: Leases = {
  isShared: false,
  has: () => true,
  elsewhere: () => [],
  condition: () => undefined,
  hold: async () => undefined,
  holdOfSite: async () => undefined,
  holdThose: async (_, serverIds) => new Set(serverIds),
  holdFree: async () => {
    throw new LeaseLost();
  },
  ownerOf: async () => "this",
  wake: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
  release: async () => undefined,
};

/** Returns a 503 for a request that only the server's instance can handle. */
export const noOwner = () =>
  unavailable(
    "No instance of the service looks after this server now. Start the one on its machine, or any with QUARTERDECK_ROLE=runner for a server over SSH.",
    5,
  );
