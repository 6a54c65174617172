import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Where ports begin and end that the kernel gives to nobody by itself (by default it begins at 32768): one of those could be
 * taken by any connection before the program that is told of it listens there, or while it is started again.
 */
const first = 10_000;
const end = 32_000;

/** No two of a process; those of others begin elsewhere. */
let next = first + Math.floor(Math.random() * (end - first));

/** A port that nobody listens on just now, for a program that has to be told one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = next + 1 < end ? next + 1 : first;
    const server = createServer();
    server.listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") continue;
      throw error;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
