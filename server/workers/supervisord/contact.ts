// Connects to one supervisord, found by its configuration, and tracks since when and why it does not respond.
import { Agent } from "node:http";
import type { Away } from "../processes/process-manager.ts";
import { findInstalled, type Installed, SupervisordMissing } from "./installed.ts";
import type { Machine } from "./machine.ts";
import { passing } from "./observed.ts";
import type { Names } from "./program-file.ts";
import { createRpc, type Rpc, SupervisordAway } from "./rpc.ts";
import { messageOf } from "../../loggable-error.ts";
import { ServerAway } from "../../ssh/server-away.ts";

export type Connected = { rpc: Rpc; installed: Installed };

type ContactOptions = {
  machine: Machine;
  /** The configuration file of supervisord that the inventory names; null = one of the usual ones. */
  config: string | null;
  names: Pick<Names, "prefix">;
  nowMs(): number;
};

const callLimitMs = 5000;
/** How long supervisord may fail before it counts as away; a restart takes less. */
const patienceMs = 4000;

export type Contact = ReturnType<typeof createContact>;

export function createContact({ machine, config, names, nowMs }: ContactOptions) {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1 });
  let connected: Connected | null = null;
  let failingSinceMs: number | null = null;
  let seenAtMs = 0;
  let away: Away | null = null;

  return {
    /** Closes the connection, and aborts the calls on it. */
    close: () => agent.destroy(),
    /** Whether supervisord has failed to respond since its last response. */
    isFailing: () => failingSinceMs !== null,
    /** Whether supervisord has not responded since the start of the service, or since it was away. */
    isNew: () => seenAtMs === 0 || away !== null,
    installed: () => connected?.installed ?? null,
    away: () => away,
    /** Whether it is still unknown if supervisord responds. */
    isUnseen: () => seenAtMs === 0 && away === null,
    /** Returns when the newest successful poll began; 0 = none since the start of the service. */
    seenAtMs: () => seenAtMs,

    /** Reads the configuration, without a request to supervisord. @throws SupervisordAway or SupervisordMissing */
    async connect(): Promise<Connected> {
      if (connected !== null) return connected;
      const installed = await findInstalled(machine, config, names.prefix);
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

    /** To be called after a successful poll. @param sinceMs when it began */
    succeeded(sinceMs: number) {
      seenAtMs = sinceMs;
      failingSinceMs = null;
      away = null;
    },

    failed(error: unknown) {
      failingSinceMs ??= nowMs();
      // The next attempt reads the configuration again, because it may be corrected meanwhile.
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
