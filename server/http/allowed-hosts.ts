// The names that this service answers to. A page from elsewhere whose name was turned to this machine's address (DNS
// rebinding) is of one origin with it to a browser; by its name it is told apart.
import { isIP } from "node:net";

/** @param host as a `Host` header or a URL has it, with or without a port */
export type IsAllowedHost = (host: string) => boolean;

export type AllowedHostsOptions = {
  /** What it listens on: a name, an address, or `0.0.0.0` or `::` for all addresses. */
  listensOn: string;
  /** Where people reach it. */
  publicUrl: string | null;
  /** Where other instances reach it. */
  instanceUrl?: string;
  /** What the machine calls itself; it counts where all addresses are listened on. */
  machineName: string;
};

const wildcards = new Set(["0.0.0.0", "[::]"]);
/** Of a port nothing can be told: a tunnel or a container may give it another one. */
const form = /^(?:[^\s@:/?#\\[\]]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

export function createAllowedHosts(options: AllowedHostsOptions): IsAllowedHost {
  const listensOn = nameOf(hostInUrl(options.listensOn));
  const isWildcard = listensOn !== null && wildcards.has(listensOn);
  const publicName = options.publicUrl === null ? null : nameOf(new URL(options.publicUrl).host);
  const instanceName =
    options.instanceUrl === undefined ? null : nameOf(new URL(options.instanceUrl).host);
  const own = new Set([
    publicName,
    instanceName,
    listensOn,
    isWildcard ? nameOf(options.machineName) : null,
  ]);
  return (host) => {
    const name = nameOf(host);
    return (
      name !== null && (own.has(name) || isLoopback(name) || (isWildcard && isLiteralAddress(name)))
    );
  };
}

/** A host as it stands in a URL: an IPv6 address in brackets. */
export const hostInUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

/** @returns without a slash at the end; as seen from this machine where the service listens on all addresses, or on its own */
export const baseUrlOf = (host: string, port: number): string =>
  `http://${["127.0.0.1", "0.0.0.0", "::", "::1"].includes(host) ? "localhost" : hostInUrl(host)}:${port}`;

/** The name in the one way that URLs write it, without a port and the root's dot; null = it is no host. */
function nameOf(host: string): string | null {
  if (!form.test(host)) return null;
  return URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "") ?? null;
}

/** Nobody can register a name below `localhost` (RFC 6761), and browsers look for it on their own machine only. */
const isLoopback = (name: string) =>
  /^(?:.+\.)?localhost$/.test(name) || name === "[::1]" || isLiteralIpv4(name, /^127\./);

/** It was typed, or came with a link; no name was looked up that somebody could have turned. */
const isLiteralAddress = (name: string) => name.startsWith("[") || isLiteralIpv4(name, /^/);

const isLiteralIpv4 = (name: string, beginning: RegExp) => isIP(name) === 4 && beginning.test(name);
