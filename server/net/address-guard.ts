// Decides which IP addresses may be reached for URLs that users enter: those of the internet, not of this network.
import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from "node:net";

export type AddressGuard = {
  /** Returns why an address is blocked, such as “127.0.0.1 is a loopback address”; null = it is allowed. */
  refusal(address: string): string | null;
};

/**
 * Ranges that are not on the internet, or reserved in it. The first range that contains an address gives the reason.
 * https://www.iana.org/assignments/iana-ipv4-special-registry and …/iana-ipv6-special-registry
 */
const special = [
  ["0.0.0.0/8", "an address of this machine"],
  ["10.0.0.0/8", "a private address"],
  ["100.64.0.0/10", "a private address of a provider"],
  ["127.0.0.0/8", "a loopback address"],
  // Not in the registry: a public address that is the host of the machine inside Azure.
  ["168.63.129.16/32", "the address of Azure's own services"],
  ["169.254.0.0/16", "a link-local address, where clouds keep their metadata"],
  ["172.16.0.0/12", "a private address"],
  ["192.0.0.0/24", "an address for protocols"],
  ["192.0.2.0/24", "an address for examples"],
  ["192.31.196.0/24", "an address for name servers of private networks"],
  ["192.52.193.0/24", "an address for multicast relays"],
  ["192.88.99.0/24", "an address of the 6to4 relays"],
  ["192.168.0.0/16", "a private address"],
  ["192.175.48.0/24", "an address for name servers of private networks"],
  ["198.18.0.0/15", "an address for measurements"],
  ["198.51.100.0/24", "an address for examples"],
  ["203.0.113.0/24", "an address for examples"],
  ["224.0.0.0/4", "a multicast address"],
  ["255.255.255.255/32", "the broadcast address"],
  ["240.0.0.0/4", "a reserved address"],
  ["::/128", "an address of this machine"],
  ["::1/128", "a loopback address"],
  // These contain an IPv4 address, and the gateway that forwards them may be in this network.
  ["::/96", "an IPv4 address inside an IPv6 one"],
  ["64:ff9b::/96", "an IPv4 address behind NAT64"],
  ["64:ff9b:1::/48", "an IPv4 address behind NAT64"],
  ["2001::/32", "an address of a Teredo tunnel"],
  ["2002::/16", "an address of a 6to4 tunnel"],
  ["100::/64", "an address that discards"],
  ["2001::/23", "an address for protocols"],
  ["2001:db8::/32", "an address for examples"],
  ["2620:4f:8000::/48", "an address for name servers of private networks"],
  ["3fff::/20", "an address for examples"],
  ["5f00::/16", "an address for routing"],
  ["fc00::/7", "a private address"],
  ["fe80::/10", "a link-local address"],
  ["fec0::/10", "a private address"],
  ["ff00::/8", "a multicast address"],
] as const;

const named = special.map(([range, words]) => ({ ranges: rangesOf([range]), words }));
const refused = rangesOf(special.map(([range]) => range));
/** The only range of IPv6 from which global addresses are allocated. https://www.iana.org/assignments/ipv6-address-space */
const givenOut = rangesOf(["2000::/3"]);

/**
 * @param allow ranges (`10.0.0.0/8`) and addresses that are allowed anyway, separated by commas
 * @throws Error that names the invalid entry
 */
export function createAddressGuard(allow: string | null): AddressGuard {
  const allowed = rangesOf((allow ?? "").split(",").filter((entry) => entry.trim() !== ""));
  return {
    refusal(address) {
      // Checked first, because `SocketAddress` would drop the zone, and with it the network.
      if (address.includes("%")) return `${address} is an address of one network card`;
      if (isIP(address) === 0) return `${address} is no IP address`;
      const found = parse(address);
      if (isIn(allowed, found)) return null;
      if (isIn(refused, found)) {
        const words = named.find(({ ranges }) => isIn(ranges, found))?.words;
        return `${address} is ${words ?? "a reserved address"}`;
      }
      if (found.family === "ipv6" && !isIn(givenOut, found))
        return `${address} is a reserved address`;
      return null;
    },
  };
}

/** Parses an address. A mapped IPv6 address (`::ffff:10.0.0.1`) becomes the IPv4 address that would be reached. */
function parse(address: string): SocketAddress {
  if (isIPv4(address)) return new SocketAddress({ address, family: "ipv4" });
  const found = new SocketAddress({ address, family: "ipv6" });
  const mapped = /^::ffff:([\d.]+)$/i.exec(found.address)?.[1];
  return mapped !== undefined && isIPv4(mapped) ? parse(mapped) : found;
}

/** One list for each family: in a common list `::/0` would also contain every IPv4 address, as a mapped one. */
type Ranges = Record<"ipv4" | "ipv6", BlockList>;

const isIn = (ranges: Ranges, address: SocketAddress): boolean =>
  ranges[address.family].check(address);

function rangesOf(texts: readonly string[]): Ranges {
  const ranges = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const text of texts) {
    const [, address = "", prefix] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    const longest = family === "ipv6" ? 128 : 32;
    const length = Number(prefix ?? longest);
    // Mapped addresses are checked as IPv4, so a range of them would never match.
    if (isIP(address) === 0 || length > longest || parse(address).family !== family)
      throw new Error(
        `“${text.trim()}” is neither an IP address nor a range of them, such as 10.0.0.0/8 or fd00::/8.`,
      );
    ranges[family].addSubnet(address, length, family);
  }
  return ranges;
}
