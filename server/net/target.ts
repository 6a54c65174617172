// Resolves a URL that a user entered, checks its addresses, and connects to checked addresses only.
import { promises as dns, type LookupAddress } from "node:dns";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP, Socket, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import type { AddressGuard } from "./address-guard.ts";
import { toError } from "../to-error.ts";
import { SendError } from "./send-error.ts";

export type Lookup = (hostname: string, options: { all: true }) => Promise<LookupAddress[]>;

/** The system's lookup, which includes /etc/hosts as for every other program. */
export const systemLookup: Lookup = (hostname, options) => dns.lookup(hostname, options);

type Targets = {
  /**
   * Checks all of a URL that needs no lookup, including a host that is an IP address.
   * @throws SendError
   */
  parse(url: string): URL;
  /**
   * @returns the addresses of a host: at least one, all allowed
   * @throws SendError, or the error of the lookup
   */
  addressesOf(hostname: string): Promise<LookupAddress[]>;
  /** @throws SendError where an address is not allowed */
  check(address: string, hostname: string): void;
};

export function createTargets({ guard, lookup }: { guard: AddressGuard; lookup: Lookup }): Targets {
  function check(address: string, hostname: string): void {
    const refusal = guard.refusal(address);
    if (refusal === null) return;
    const why =
      address === hostname ? refusal : `${hostname} resolves to a blocked address: ${refusal}`;
    throw new SendError(
      "refused",
      `${why}. To permit it, add the address or its range to QUARTERDECK_ALLOW.`,
    );
  }

  return {
    check,

    parse(text) {
      // The same parser that browsers have: 0x7f.1, 2130706433 and １２７.０.０.１ come out of it as 127.0.0.1.
      const url = URL.parse(text);
      if (url === null) throw new SendError("refused", "The URL is not valid.");
      if (url.protocol !== "http:" && url.protocol !== "https:")
        throw new SendError("refused", "The URL must begin with http:// or https://.");
      if (url.username !== "" || url.password !== "")
        throw new SendError("refused", "The URL must not hold a user name or a password.");
      if (url.port === "0")
        throw new SendError("refused", "The URL must not name port 0: nothing can listen there.");
      const hostname = hostnameOf(url);
      if (isIP(hostname) !== 0) check(hostname, hostname);
      return url;
    },

    async addressesOf(hostname) {
      // An address is no question for a name server; `parse` has judged it.
      const family = isIP(hostname);
      if (family !== 0) return [{ address: hostname, family }];
      const addresses = await lookup(hostname, { all: true });
      if (addresses.length === 0)
        throw new SendError(
          "unreachable",
          `${hostname} could not be resolved: the name has no address.`,
        );
      // One forbidden address refuses the host, because the connection may take any of them.
      for (const { address } of addresses) check(address, hostname);
      return addresses;
    },
  };
}

/** Without the brackets that an IPv6 address has in a URL. */
export const hostnameOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

/** Node closes a connection earlier when the server says that it will. */
const idleMs = 10_000;
const freeSocketsOfAHost = 64;

type Agents = { http: HttpAgent; https: HttpsAgent };

/** Creates agents whose connections lead only to allowed addresses, and are reused for a while. */
export function createAgents(targets: Targets): Agents {
  // The connection uses the result that was checked: a second lookup could return another.
  const addressesOf = callbackify(targets.addressesOf);
  const lookup: LookupFunction = (hostname, _options, done) =>
    addressesOf(hostname, (error, addresses) => done(error, error === null ? addresses : []));
  const options = {
    keepAlive: true,
    maxFreeSockets: freeSocketsOfAHost,
    // Closes idle connections only; a running request has its own deadline.
    timeout: idleMs,
    lookup,
    // With it `lookup` is always asked for all addresses, whatever flags Node was started with.
    autoSelectFamily: true,
    // The default of 250 ms gives up on distant hosts.
    autoSelectFamilyAttemptTimeout: 2000,
  };
  return {
    http: watched(new HttpAgent(options), targets),
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
    https: watched(new HttpsAgent({ ...options, rejectUnauthorized: true }), targets),
  };
}

/** Checks the address of each established connection before a byte is sent. */
function watched<Agent extends HttpAgent>(agent: Agent, targets: Targets): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, done) => {
    const socket = connect(options, done);
    if (socket instanceof Socket)
      // First, because TLS and the request wait for the same event.
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
