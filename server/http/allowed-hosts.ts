// Checks the host of a request against the names of this service. It prevents DNS rebinding: a site whose name is resolved to
// this machine's address has the same origin as this service to a browser, and only the name tells them apart.
import { isIP } from "node:net";

/** @param host as a `Host` header or a URL has it, with or without a port */
export type IsAllowedHost = (host: string) => boolean;

export type AllowedHostsOptions = {
  /** The listen address: a name, an address, or `0.0.0.0` or `::` for all addresses. */
  listensOn: string;
  /** URL under which people reach the service. */
  publicUrl: string | null;
  /** URL under which other instances reach this one. */
  instanceUrl?: string;
  /** Name of the machine; allowed where the service listens on all addresses. */
  machineName: string;
};

const wildcards = new Set(["0.0.0.0", "[::]"]);
/** A host with any port, because a tunnel or a container may map the port. */
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

/** Returns a host as it is written in a URL, with an IPv6 address in brackets. */
export const hostInUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

/** @returns the URL without a slash at the end; `localhost` where the service listens on all addresses or on loopback */
export const baseUrlOf = (host: string, port: number): string =>
  `http://${["127.0.0.1", "0.0.0.0", "::", "::1"].includes(host) ? "localhost" : hostInUrl(host)}:${port}`;

/**
 * Normalizes a host as URLs do, without the port and the dot of the root.
 * @returns null where it is not a valid host
 */
function nameOf(host: string): string | null {
  if (!form.test(host)) return null;
  return URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "") ?? null;
}

/** Nobody can register a name below `localhost` (RFC 6761), and browsers look for it on their own machine only. */
const isLoopback = (name: string) =>
  /^(?:.+\.)?localhost$/.test(name) || name === "[::1]" || isLiteralIpv4(name, /^127\./);

/** An address needs no name lookup, so DNS rebinding cannot have changed where it leads. */
const isLiteralAddress = (name: string) => name.startsWith("[") || isLiteralIpv4(name, /^/);

const isLiteralIpv4 = (name: string, beginning: RegExp) => isIP(name) === 4 && beginning.test(name);
