// Access of a process manager to a server with supervisord: this machine, or one over SSH.
import type { Host } from "../../hosts/host.ts";

export type Machine = Pick<Host, "run"> & {
  /**
   * @param path path of a Unix socket on the server
   * @returns the path of a local socket that is connected to it; rejects where the server is away
   */
  openSocket(path: string): Promise<string>;
  /** Returns the error code of a socket on the server, which a forward over SSH does not report; null = no problem found. */
  whyClosed(path: string): Promise<string | null>;
  /** Returns the first line that a quick command prints, where that is cheaper than `run`. */
  firstLine?(argv: readonly string[], limitMs: number): Promise<string>;
  /** Environment of the server's workers, in addition to their account's variables. */
  environment: Record<string, string>;
};
