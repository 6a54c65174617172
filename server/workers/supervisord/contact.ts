// How one supervisord is reached: found from its configuration, asked with a time limit, and known to be away where it is.
import { Agent } from "node:http";
import type { Away } from "../process-manager.ts";
import { findInstalled, type Installed, SupervisordMissing } from "./installed.ts";
import type { Machine } from "./machine.ts";
import { passing } from "./observed.ts";
import { createRpc, type Rpc, SupervisordAway } from "./rpc.ts";
import { messageOf } from "../../loggable-error.ts";
import { ServerAway } from "../../ssh/server-away.ts";

export type Connected = { rpc: Rpc; installed: Installed };

type ContactOptions = {
  machine: Machine;
  /** The configuration file of supervisord that the inventory names; null = one of the usual ones. */
  config: string | null;
  nowMs(): number;
};

const callLimitMs = 5000;
/** A supervisord that is restarted is back sooner. */
const patienceMs = 4000;

export type Contact = ReturnType<typeof createContact>;

export function createContact({ machine, config, nowMs }: ContactOptions) {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1 });
  let connected: Connected | null = null;
  let failingSinceMs: number | null = null;
  let seenAtMs = 0;
  let away: Away | null = null;

  return {
    /** Ends the connection that is kept; calls that are under way with it. */
    close: () => agent.destroy(),
    /** Whether it has failed since it last answered. */
    isFailing: () => failingSinceMs !== null,
    /** Whether nothing was seen of it since the start of the service, or since it was away. */
    isNew: () => seenAtMs === 0 || away !== null,
    installed: () => connected?.installed ?? null,
    away: () => away,
    /** Nobody knows yet whether it answers. */
    isUnseen: () => seenAtMs === 0 && away === null,
    /** When the newest look began that it answered; 0 = it has not since the start of the service. */
    seenAtMs: () => seenAtMs,

    /** Finds it, which says nothing of whether it answers. @throws SupervisordAway or SupervisordMissing */
    async connect(): Promise<Connected> {
      if (connected !== null) return connected;
      const installed = await findInstalled(machine, config);
      const rpc = createRpc({
        openSocket: () => machine.openSocket(installed.socket),
        whyClosed: machine.whyClosed,
        path: installed.socket,
        login: installed.login,
        limitMs: callLimitMs,
        agent,
        passing,
      });
      connected = { rpc, installed };
      return connected;
    },

    /** Everything that was asked since then was answered. */
    succeeded(sinceMs: number) {
      seenAtMs = sinceMs;
      failingSinceMs = null;
      away = null;
    },

    failed(error: unknown) {
      failingSinceMs ??= nowMs();
      // What is somebody else's mistake by now may be cured in its configuration.
      connected = null;
      agent.destroy();
      const isOver = nowMs() - failingSinceMs >= patienceMs;
      if (seenAtMs === 0 || isOver || error instanceof SupervisordMissing || away !== null)
        away = {
          since: away?.since ?? new Date(failingSinceMs),
          reason:
            error instanceof SupervisordAway || error instanceof ServerAway
              ? error.message
              : `Couldn't look after the workers of this server: ${messageOf(error)}`,
        };
    },
  };
}
