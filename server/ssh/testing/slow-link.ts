// Starts a proxy on a loopback port that simulates a slow network: latency, and limited bandwidth.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { CleanUp } from "../../testing/machine.ts";
import { portOf } from "../../testing/port-of.ts";

type SlowLinkOptions = {
  /** Port of the server. */
  port: number;
  /** Latency in each direction. */
  delayMs: number;
  /** Bandwidth in each direction, for all connections together. */
  bytesPerSecond: number;
  cleanUp?: CleanUp;
};

/** @returns port of the proxy */
export async function startSlowLink(options: SlowLinkOptions): Promise<number> {
  const { delayMs, bytesPerSecond, cleanUp = onTestFinished } = options;
  const sockets = new Set<Socket>();

  /** Creates one direction. Each chunk waits for bandwidth after the previous ones, and then for the latency. */
  function createWay() {
    let freeAtMs = 0;
    return async (from: Socket, to: Socket) => {
      const deliver = async (bytes: Buffer, before: Promise<void>, underWay: Promise<void>) => {
        await before;
        await underWay;
        to.write(bytes);
      };
      let delivered = Promise.resolve();
      for await (const chunk of from) {
        const bytes: Buffer = chunk;
        freeAtMs = Math.max(performance.now(), freeAtMs) + (bytes.length / bytesPerSecond) * 1000;
        await wait(Math.max(0, freeAtMs - performance.now()));
        delivered = deliver(bytes, delivered, wait(delayMs));
      }
      await delivered;
      await wait(delayMs);
      to.end();
    };
  }

  const [there, back] = [createWay(), createWay()];
  const server = createServer((near) => {
    const far = connect(options.port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", () => undefined);
    }
    Promise.all([there(near, far), back(far, near)]).catch(() => {
      near.destroy();
      far.destroy();
    });
  }).listen(0, "127.0.0.1");
  cleanUp(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, "listening");
  return portOf(server);
}
