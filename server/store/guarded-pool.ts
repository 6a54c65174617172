// Keeps a transaction on its own connection. Code that waits for a second connection inside a transaction does not
// release the first: once every connection of the pool is held that way, none of them can continue.
import { AsyncLocalStorage } from "node:async_hooks";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";

/** The transaction around the running code. Work that was started inside may outlive it, so it says whether it is open. */
const current = new AsyncLocalStorage<{ isOpen: boolean; begun: Error }>();

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
      if (transaction?.isOpen === true) onSecondConnection(new SecondConnection(transaction.begun));
      return connect(...parts);
    }) as typeof this.connect;
  }
}

/** Makes each transaction of the database known to its pool. */
export function guardTransactions<Schema extends Record<string, unknown>>(
  db: NodePgDatabase<Schema>,
): void {
  const transaction = db.transaction.bind(db);
  db.transaction = (steps, config) => {
    const own = { isOpen: true, begun: new Error("The transaction was begun here.") };
    return transaction(async (tx) => {
      try {
        return await current.run(own, () => steps(tx));
      } finally {
        own.isOpen = false;
      }
    }, config);
  };
}
