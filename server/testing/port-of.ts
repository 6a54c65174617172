import type { Server } from "node:net";

/** Returns the port that a server listens on. @throws Error if it listens on none */
export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}
