import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Range of ports below the kernel's ephemeral ports, which by default begin at 32768. An ephemeral port could be taken by
 * any connection before the program listens on it, or while that restarts.
 */
const first = 10_000;
const end = 32_000;

/** The next candidate: counts up from a random port, so that neither a process nor several of them reuse a port soon. */
let next = first + Math.floor(Math.random() * (end - first));

/** Finds a port on which nothing listens, for a program that needs one as an option. */
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
