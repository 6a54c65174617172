// Connections that lead only where a request may go, and are kept a while for the next one.
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { Socket, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import type { Targets } from "./target.ts";
import { toError } from "../to-error.ts";

/** Node closes a connection earlier when the server says that it will. */
const idleMs = 10_000;
const freeSocketsOfAHost = 64;

type Agents = { http: HttpAgent; https: HttpsAgent };

export function createAgents(targets: Targets): Agents {
  // The connection takes the very answer that was checked. A second lookup could be answered differently.
  const addressesOf = callbackify(targets.addressesOf);
  const lookup: LookupFunction = (hostname, _options, done) =>
    addressesOf(hostname, (error, addresses) => done(error, error === null ? addresses : []));
  const options = {
    keepAlive: true,
    maxFreeSockets: freeSocketsOfAHost,
    // Closes only what is idle; a request in flight has its own deadline.
    timeout: idleMs,
    lookup,
    // With it `lookup` is always asked for all addresses, whatever flags Node was started with.
    autoSelectFamily: true,
    // The default of 250 ms gives up hosts that are merely far away.
    autoSelectFamilyAttemptTimeout: 2000,
  };
  return {
    http: watched(new HttpAgent(options), targets),
    // Said aloud, so that NODE_TLS_REJECT_UNAUTHORIZED=0 does not reach it.
    https: watched(new HttpsAgent({ ...options, rejectUnauthorized: true }), targets),
  };
}

/** Judges each connection once more when it stands, before a byte goes out: whatever led there, this is where it is. */
function watched<Agent extends HttpAgent>(agent: Agent, targets: Targets): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, done) => {
    const socket = connect(options, done);
    if (socket instanceof Socket)
      // First in line: TLS and the request itself wait for the same event.
      socket.prependOnceListener("connect", () => {
        try {
          targets.check(socket.remoteAddress ?? "an unknown address", options.host ?? "The host");
        } catch (error) {
          socket.destroy(toError(error));
        }
      });
    return socket;
  };
  return agent;
}
