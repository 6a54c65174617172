// Which instance of the service looks after which server. One that has a database of its own looks after all.
import type { Connection } from "../store/database.ts";
import type { SQL } from "../store/drizzle.ts";
import { ServiceError, unavailable } from "../http/service-error.ts";

/** Another instance, or nobody, looks after the server by now: whatever this one still does about it must change nothing. */
export class LeaseLost extends ServiceError {
  override name = "LeaseLost";
  constructor() {
    super("unavailable", "The server was handed to another instance just now. Try again.", {
      "Retry-After": "1",
    });
  }
}

/** Who looks after a server; an address is that at which other instances reach it, without a slash at the end. */
export type Owner = { name: string; address: string };

/** Told of servers, by their ids. What it returns is waited for before the servers can change hands again. */
export type LeaseListener = {
  /** Whether something long is done for the server, so that another instance should not have it now. */
  isBusy(serverId: number): boolean;
  taken(serverIds: readonly number[]): Promise<void>;
  lost(serverIds: readonly number[]): Promise<void>;
  /** Servers that it looked after all the time, and that others may have called abandoned while they thought it dead. */
  regained(serverIds: readonly number[]): Promise<void>;
  /** Nobody has looked after these for a while, and this instance cannot. */
  abandoned(servers: readonly Abandoned[]): Promise<void>;
};

/** A server, and the name of the instance that looked after it last. */
type Abandoned = { id: number; instance: string };

export type Leases = {
  /** Whether servers can pass to other instances. */
  isShared: boolean;
  /** Whether this instance looks after the server now. */
  has(serverId: number): boolean;
  /** The servers that it does not look after. */
  elsewhere(): readonly number[];
  /** The rows of `serverId` that this instance may write, as a condition; undefined = all. */
  condition(serverId: SQL): SQL | undefined;
  /** Keeps the server's lease until the transaction ends. @throws LeaseLost */
  hold(tx: Connection, serverId: number): Promise<void>;
  /** The same of the server that a site is on. @throws LeaseLost */
  holdOfSite(tx: Connection, siteId: number): Promise<void>;
  /** Keeps the leases that it has of several servers until the transaction ends. @returns the servers of those */
  holdThose(tx: Connection, serverIds: readonly number[]): Promise<ReadonlySet<number>>;
  /** Keeps a server that nobody looks after from being taken until the transaction ends. @throws LeaseLost where somebody does */
  holdFree(tx: Connection, serverId: number): Promise<void>;
  /** Null where nobody does. */
  ownerOf(serverId: number): Promise<Owner | "this" | null>;
  /** Looks now what there is to take, and what is lost. */
  wake(): void;
  /** Takes servers and tells of them, from now on. Resolves once the first ones are taken. */
  start(listener: LeaseListener): Promise<void>;
  /** Takes no more. What it has it keeps. */
  stop(): Promise<void>;
  /** Hands everything over at once. Nothing may be done for a server after that. */
  release(): Promise<void>;
};

/** All servers, always: nobody else is on the database. */
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

/** A 503: what is asked for needs the server's instance. */
export const noOwner = () =>
  unavailable(
    "No instance of the service looks after this server now. Start the one on its machine, or any with QUARTERDECK_ROLE=runner for a server over SSH.",
    5,
  );
