// Keeps a transaction on its own connection. Code that waits for a second connection inside a transaction does not release the
// first: once all connections of the pool are held that way, none of them can continue.
import { AsyncLocalStorage } from "node:async_hooks";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";
import { toError } from "../to-error.ts";

type Transaction = {
  state: "beginning" | "open" | "over";
  begun: Error;
  /** The transaction's connection; null while it has none. */
  connection: pg.PoolClient | null;
  /** The transaction in whose context this one was begun. */
  around: Transaction | undefined;
};

/** The transaction of the running code. Work that was started inside may outlive it. */
const current = new AsyncLocalStorage<Transaction>();

/** Code inside a transaction asked the pool for a connection. */
export class SecondConnection extends Error {
  override name = "SecondConnection";
  /** @param begun an error whose stack shows where the transaction was begun; the stack of a query ends in Drizzle */
  constructor(begun: Error) {
    super("A query inside a transaction went to the pool; it must go through the transaction.", {
      cause: begun,
    });
  }
}

/** A pool that detects requests for a second connection from any query. */
export class GuardedPool extends pg.Pool {
  /** @param onSecondConnection if it throws the error, the query fails with it */
  constructor(options: pg.PoolConfig, onSecondConnection: (error: SecondConnection) => void) {
    super(options);
    // Called with the arguments of the wrapper, whichever overload that is.
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
 * Tracks the transactions of a database for its pool. Also releases the connection of a transaction that cannot begin, which
 * Drizzle does not: a short loss of the database would otherwise exhaust the pool for good.
 */
export function guardTransactions(db: NodePgDatabase): void {
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
