// The network of a client, as failed logins are counted: who has one IPv6 address has all of its /64.
import { isIPv6 } from "node:net";

/** An IPv4 address as it is, also where IPv6 wraps it; of an IPv6 address its first 64 bits. */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  if (!isIPv6(plain)) return address;
  // URLs know one way to write an address: lower case, no leading zeros, IPv4 in hex.
  const groups = expand(new URL(`http://[${plain}]`).hostname.slice(1, -1));
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  if (groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff")
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** All eight groups, with the zeros that `::` stands for. */
function expand(address: string): string[] {
  const [head = [], tail = []] = address
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  return [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
}
