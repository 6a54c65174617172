// Keeps a transaction on its own connection. Code that waits for a second connection inside a transaction does not
// release the first: once every connection of the pool is held that way, none of them can continue.
import { AsyncLocalStorage } from "node:async_hooks";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";
import { toError } from "../to-error.ts";

type Transaction = {
  state: "beginning" | "open" | "over";
  begun: Error;
  /** Its own; null while it has none. */
  connection: pg.PoolClient | null;
  /** What began it. */
  around: Transaction | undefined;
};

/** The transaction around the running code. Work that was started inside may outlive it. */
const current = new AsyncLocalStorage<Transaction>();

/** The pool was asked for a connection inside a transaction. */
export class SecondConnection extends Error {
  override name = "SecondConnection";
  /** @param begun whose stack says where the transaction was begun; that of a query ends in Drizzle */
  constructor(begun: Error) {
    super("A query inside a transaction went to the pool; it must go through the transaction.", {
      cause: begun,
    });
  }
}

/** A pool that detects a second connection, whichever query or store asks for it. */
export class GuardedPool extends pg.Pool {
  /** @param onSecondConnection may throw the error: the query fails with it */
  constructor(options: pg.PoolConfig, onSecondConnection: (error: SecondConnection) => void) {
    super(options);
    // Called with what the wrapper got, whichever overload that is.
    const connect = this.connect.bind(this) as (...parts: unknown[]) => unknown;
    // Every query of the pool goes through `connect`. The wrapper keeps the original's overloads.
    this.connect = ((...parts: unknown[]) => {
      const transaction = current.getStore();
      const around = transaction?.state === "beginning" ? transaction.around : transaction;
      if (around?.state === "open") onSecondConnection(new SecondConnection(around.begun));
      const connected = connect(...parts);
      if (transaction?.state !== "beginning" || !(connected instanceof Promise)) return connected;
      return connected.then((connection: pg.PoolClient) => {
        transaction.connection = connection;
        return connection;
      });
    }) as typeof this.connect;
  }
}

/**
 * Makes each transaction of the database known to its pool. The connection of one that cannot begin is given back here, because
 * Drizzle forgets it: with a database that is away for a moment, the pool would have none left for good.
 */
export function guardTransactions<Schema extends Record<string, unknown>>(
  db: NodePgDatabase<Schema>,
): void {
  const transaction = db.transaction.bind(db);
  db.transaction = (steps, config) => {
    const own: Transaction = {
      state: "beginning",
      begun: new Error("The transaction was begun here."),
      connection: null,
      around: current.getStore(),
    };
    return current.run(own, async () => {
      try {
        return await transaction(async (tx) => {
          own.state = "open";
          try {
            return await steps(tx);
          } finally {
            own.state = "over";
          }
        }, config);
      } catch (error) {
        if (own.state === "beginning") own.connection?.release(toError(error));
        throw error;
      }
    });
  };
}
