// A way to a server that can be cut: a proxy on a loopback port.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { portOf } from "./port-of.ts";

export type CuttableLink = {
  /** Leads to the server. */
  port: number;
  /** So many bytes came through, both ways together. */
  passedBytes(): number;
  /** Ends all connections, and each new one at once. */
  refuse(): void;
  /** Nothing comes through, and neither end hears of it: a cable that was pulled. */
  silence(): void;
  /** Lets new connections through again; those that were silent end. */
  mend(): void;
  close(): Promise<void>;
};

/** @param behind the server's port */
export async function startCuttableLink(behind: number): Promise<CuttableLink> {
  const sockets = new Set<Socket>();
  let passed = 0;
  let state: "whole" | "refusing" | "silent" = "whole";
  const server = createServer((near) => {
    near.on("error", () => undefined);
    if (state === "refusing") return void near.destroy();
    const far = connect(behind, "127.0.0.1");
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
