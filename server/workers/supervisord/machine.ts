// A server with supervisord on it, as its process manager reaches it. This machine and one over SSH are alike.
import type { Host } from "../../hosts/host.ts";

export type Machine = Pick<Host, "run"> & {
  /**
   * @param path of a unix socket on the server
   * @returns the path of a socket here that leads to it; rejects where the server is away
   */
  openSocket(path: string): Promise<string>;
  /** The code of what is wrong with a socket there, which a way through SSH does not tell; null = nothing that shows. */
  whyClosed(path: string): Promise<string | null>;
  /** The first line that a quick command prints, where that costs less than `run`. */
  firstLine?(argv: readonly string[], limitMs: number): Promise<string>;
  /** What its workers find in their environment beside what is their account's. */
  environment: Record<string, string>;
};
