import type { Socket } from "node:net";
import pg from "pg";

export type ImpatientOptions = pg.ClientConfig & {
  /** Milliseconds without traffic; 0 = no limit. Default: one minute. */
  silenceLimitMs?: number;
};

/** No query takes nearly as long, except changes of the schema. */
const defaultLimitMs = 60_000;

/**
 * A client that closes its connection after a while without traffic. Otherwise a query to a machine or network that disappeared
 * would wait about 15 minutes for the kernel's timeout. The pool closes idle connections earlier.
 */
export class ImpatientClient extends pg.Client {
  constructor(config: ImpatientOptions = {}) {
    super(config);
    const { silenceLimitMs = defaultLimitMs } = config;
    // Not before `connect`: with TLS the socket is replaced during the handshake.
    this.once("connect", () => {
      // The types lack `connection`, which every `pg.Client` has. Its stream is a socket, over a network or a Unix socket.
      const { stream } = (this as unknown as { connection: { stream: Socket } }).connection;
      stream.setTimeout(silenceLimitMs, () =>
        // Starts like the errors of `pg` for lost connections, see `lostMessages`.
        stream.destroy(
          new Error(
            `Connection terminated: the database was silent for ${silenceLimitMs / 1000} s.`,
          ),
        ),
      );
    });
  }
}
