import { describe, expect, test } from "vitest";
import { createAddressGuard } from "./address-guard.ts";

const wordsOf = (text: string) => text.trim().split(/\s+/);
const strict = createAddressGuard(null);

test.each([
  ["0.0.0.0", "of this machine"],
  ["0.255.255.255", "of this machine"],
  ["10.0.0.1", "private"],
  ["10.255.255.255", "private"],
  ["100.64.0.0", "private"],
  // The metadata of Alibaba's cloud.
  ["100.100.100.200", "private"],
  ["100.127.255.255", "private"],
  ["127.0.0.1", "loopback"],
  ["127.255.255.255", "loopback"],
  ["168.63.129.16", "Azure"],
  ["169.254.0.1", "link-local"],
  ["169.254.169.254", "link-local"],
  ["172.16.0.0", "private"],
  ["172.31.255.255", "private"],
  ["192.0.0.192", "protocols"],
  ["192.0.2.1", "examples"],
  ["192.31.196.1", "private networks"],
  ["192.52.193.1", "relays"],
  ["192.88.99.1", "6to4"],
  ["192.168.0.0", "private"],
  ["192.168.255.255", "private"],
  ["192.175.48.1", "private networks"],
  ["198.18.0.0", "measurements"],
  ["198.19.255.255", "measurements"],
  ["198.51.100.1", "examples"],
  ["203.0.113.1", "examples"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.254", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["::", "of this machine"],
  ["::1", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["::127.0.0.1", "IPv4 address inside"],
  ["::8.8.8.8", "IPv4 address inside"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["::FFFF:10.0.0.1", "private"],
  ["0:0:0:0:0:ffff:a9fe:a9fe", "link-local"],
  ["::ffff:0:127.0.0.1", "reserved"],
  ["64:ff9b::7f00:1", "NAT64"],
  ["64:ff9b::8.8.8.8", "NAT64"],
  ["64:ff9b:1::a00:1", "NAT64"],
  ["100::1", "discards"],
  ["2001::1", "Teredo"],
  ["2001:0:ffff::1", "Teredo"],
  ["2001:2::1", "protocols"],
  ["2001:20::1", "protocols"],
  ["2001:db8::1", "examples"],
  ["2002:7f00:1::", "6to4"],
  ["2002:808:808::1", "6to4"],
  ["2620:4f:8000::1", "private networks"],
  ["3fff:fff::1", "examples"],
  ["4000::1", "reserved"],
  ["1fff::1", "reserved"],
  ["5f00::1", "routing"],
  ["fc00::1", "private"],
  // The metadata of Amazon's cloud.
  ["fd00:ec2::254", "private"],
  ["fe80::1", "link-local"],
  ["febf::1", "link-local"],
  ["fe80::1%eth0", "network card"],
  ["2a00::1%1", "network card"],
  ["fec0::1", "private"],
  ["ff02::1", "multicast"],
  ["localhost", "no IP address"],
  ["127.1", "no IP address"],
  ["0177.0.0.1", "no IP address"],
  ["2130706433", "no IP address"],
  ["[::1]", "no IP address"],
  ["", "no IP address"],
])("“%s” is refused: %s", (address, words) => {
  const refusal = strict.refusal(address);
  expect(refusal).toContain(words);
  expect(refusal?.startsWith(`${address} is `)).toBe(true);
});

test.each(
  wordsOf(`
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255
    128.0.0.0 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0
    191.255.255.255 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
    203.0.112.255 223.255.255.255 2001:200::1 2001:db7::1 2003::1 2606:4700:4700::1111
    2a00:1450::1 3ffe::1 ::ffff:8.8.8.8 ::ffff:808:808
  `),
)("%s is a public address", (address) => {
  expect(strict.refusal(address)).toBeNull();
});

describe("an allowlist", () => {
  const guard = createAddressGuard(" 10.1.0.0/16, 127.0.0.1 ,fd00:1::/32,64:ff9b::/96,,");

  test.each(["10.1.2.3", "127.0.0.1", "::ffff:10.1.2.3", "::ffff:7f00:1", "fd00:1::7"])(
    "permits %s",
    (address) => expect(guard.refusal(address)).toBeNull(),
  );

  test.each(["64:ff9b::7f00:1", "8.8.8.8"])("permits %s as well", (address) =>
    expect(guard.refusal(address)).toBeNull(),
  );

  test.each(["10.2.0.1", "127.0.0.2", "::ffff:10.2.0.1", "fd00:2::1", "::1", "fd00:1::7%eth0"])(
    "still refuses %s",
    (address) => expect(guard.refusal(address)).not.toBeNull(),
  );

  test("of all IPv6 addresses does not include all IPv4 addresses", () => {
    const guard = createAddressGuard("::/0");
    expect(guard.refusal("::1")).toBeNull();
    expect(guard.refusal("127.0.0.1")).not.toBeNull();
    expect(guard.refusal("::ffff:127.0.0.1")).not.toBeNull();
  });

  test.each([null, "", " , "])("of “%s” is empty", (allow) =>
    expect(createAddressGuard(allow).refusal("127.0.0.1")).not.toBeNull(),
  );

  test.each(
    wordsOf(`
    localhost 10.0.0.0/33 10.0.0/8 10.0.0.0/ 10.0.0.0/-1 10.0.0.0/8/8 fd00::/129
    fe80::1%eth0 10.0.0.1-10.0.0.9 10.0.0.0/255.0.0.0 [::1] 10.* ::ffff:10.0.0.0/104
  `),
  )("with the invalid entry “%s” is refused with that entry", (entry) => {
    expect(() => createAddressGuard(`10.0.0.0/8,${entry}`)).toThrow(`“${entry}”`);
  });
});
