import type { Socket } from "node:net";
import pg from "pg";

export type ImpatientOptions = pg.ClientConfig & {
  /** Milliseconds; 0 = none. By default a minute. */
  silenceLimitMs?: number;
};

/** No query of ours takes nearly as long, but for those that change the schema. */
const defaultLimitMs = 60_000;

/**
 * A connection that is given up once nothing came over it for a while: with a machine or a network that went away without a word, a
 * query would wait for the kernel to give up, which takes a quarter of an hour. Connections that nobody uses are closed by
 * their pool before that.
 */
export class ImpatientClient extends pg.Client {
  constructor(config: ImpatientOptions = {}) {
    super(config);
    const { silenceLimitMs = defaultLimitMs } = config;
    // Not before: with TLS, which is agreed upon first, it is another socket.
    this.once("connect", () => {
      // Its type leaves it out; every `pg.Client` has it, and over a network or to a file it is a socket.
      const { stream } = (this as unknown as { connection: { stream: Socket } }).connection;
      stream.setTimeout(silenceLimitMs, () =>
        // As `pg` begins what it says of a connection that is lost.
        stream.destroy(
          new Error(
            `Connection terminated: the database was silent for ${silenceLimitMs / 1000} s.`,
          ),
        ),
      );
    });
  }
}
