// Resolves URLs that users entered, checks whether a request may go there, and makes connections that lead nowhere else.
import { promises as dns, type LookupAddress } from "node:dns";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { isIP, Socket, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import type { AddressGuard } from "./address-guard.ts";
import { toError } from "../to-error.ts";
import { SendError } from "./send-error.ts";

export type Lookup = (hostname: string, options: { all: true }) => Promise<LookupAddress[]>;

/** The machine's own resolver, which includes /etc/hosts, as for all other programs. */
export const systemLookup: Lookup = (hostname, options) => dns.lookup(hostname, options);

type Targets = {
  /**
   * Checks everything that needs no name server, including a host that is an IP address.
   * @throws SendError
   */
  parse(url: string): URL;
  /**
   * Returns the addresses of a host: never empty, and all of them are allowed.
   * @throws SendError, or the error of the lookup
   */
  addressesOf(hostname: string): Promise<LookupAddress[]>;
  /** @throws SendError when an address is blocked */
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
      // The same parser as in browsers: 0x7f.1, 2130706433 and １２７.０.０.１ all become 127.0.0.1.
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
      // `parse` has checked IP addresses, which need no lookup.
      const family = isIP(hostname);
      if (family !== 0) return [{ address: hostname, family }];
      const addresses = await lookup(hostname, { all: true });
      if (addresses.length === 0)
        throw new SendError(
          "unreachable",
          `${hostname} could not be resolved: the name has no address.`,
        );
      // One blocked address blocks the host, because the connection may use any of them.
      for (const { address } of addresses) check(address, hostname);
      return addresses;
    },
  };
}

/** Returns the host name without the brackets of an IPv6 address. */
export const hostnameOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

/** Node closes a connection earlier when the server announces that it will. */
const idleMs = 10_000;
const freeSocketsOfAHost = 64;

type Agents = { http: HttpAgent; https: HttpsAgent };

/** Agents whose connections only lead to allowed addresses, and are kept alive for a while. */
export function createAgents(targets: Targets): Agents {
  // The connection uses the checked result of the lookup, because a second lookup could return other addresses.
  const addressesOf = callbackify(targets.addressesOf);
  const lookup: LookupFunction = (hostname, _options, done) =>
    addressesOf(hostname, (error, addresses) => done(error, error === null ? addresses : []));
  const options = {
    keepAlive: true,
    maxFreeSockets: freeSocketsOfAHost,
    // Only closes idle connections; a request in flight has its own deadline.
    timeout: idleMs,
    lookup,
    // Makes Node request all addresses from `lookup`, whatever flags it was started with.
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

/** Checks the actual address of each connection before a byte is sent, whatever led there. */
function watched<Agent extends HttpAgent>(agent: Agent, targets: Targets): Agent {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, done) => {
    const socket = connect(options, done);
    if (socket instanceof Socket)
      // Prepended, because TLS and the request wait for the same event.
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
