// Provides a connection to a server that tests can interrupt: a proxy on a loopback port.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { portOf } from "./port-of.ts";

export type CuttableLink = {
  /** The proxy's port. */
  port: number;
  /** Returns the number of bytes passed, in both directions together. */
  passedBytes(): number;
  /** Closes all connections, and each new one at once. */
  refuse(): void;
  /** Passes nothing on, and keeps connections open, like a pulled cable. */
  silence(): void;
  /** Closes all connections and passes new ones through again. */
  mend(): void;
  close(): Promise<void>;
};

/**
 * @param behind port of the server, or the path of its socket
 * @param delayMs returns after what time a connection is passed on, the first one being number 1
 */
export async function startCuttableLink(
  behind: number | string,
  delayMs: (number: number) => number = () => 0,
): Promise<CuttableLink> {
  const sockets = new Set<Socket>();
  let passed = 0;
  let count = 0;
  let state: "whole" | "refusing" | "silent" = "whole";
  const pass = (near: Socket) => {
    if (state === "refusing") return void near.destroy();
    const far = typeof behind === "string" ? connect(behind) : connect(behind, "127.0.0.1");
    far.on("error", () => undefined);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("data", ({ length }: Buffer) => (passed += length));
      socket.pipe(other);
      socket.on("close", () => {
        sockets.delete(socket);
        if (state !== "silent") other.destroy();
      });
      if (state === "silent") socket.unpipe().pause();
    }
  };
  const server = createServer((near) => {
    near.on("error", () => undefined);
    const ms = delayMs((count += 1));
    if (ms === 0) pass(near);
    else setTimeout(pass, ms, near);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: portOf(server),
    passedBytes: () => passed,
    refuse() {
      state = "refusing";
      endAll();
    },
    silence() {
      state = "silent";
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend() {
      state = "whole";
      endAll();
    },
    async close() {
      state = "refusing";
      endAll();
      server.close();
      await once(server, "close");
    },
  };
}
