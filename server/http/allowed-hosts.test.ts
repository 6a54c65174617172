import { describe, expect, test } from "vitest";
import { createAllowedHosts, type AllowedHostsOptions } from "./allowed-hosts.ts";

const isAllowed = (options: Partial<AllowedHostsOptions>, host: string) =>
  createAllowedHosts({
    listensOn: "127.0.0.1",
    publicUrl: null,
    machineName: "web-1",
    ...options,
  })(host);

describe("by default", () => {
  test.each([
    "localhost",
    "localhost:4000",
    "LocalHost",
    "localhost.",
    "quarterdeck.localhost:4000",
    "127.0.0.1:4000",
    "127.8.9.10",
    "[::1]",
    "[::1]:4000",
    "[0:0:0:0:0:0:0:1]",
  ])("%s is this machine", (host) => {
    expect(isAllowed({}, host)).toBe(true);
  });

  test.each([
    "",
    "evil.example",
    "evil.example:4000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1@evil.example",
    "evil.example@127.0.0.1",
    "localhost/evil.example",
    "localhost#evil.example",
    "localhost?evil.example",
    "localhost\\evil.example",
    "localhost, evil.example",
    "localhost:4000:4000",
    "localhost:x",
    "notlocalhost",
    "localhost..",
    "web-1",
    "192.168.1.5",
    "[2001:db8::1]",
    "[::1",
    "::1",
    "0.0.0.0",
  ])("“%s” is not", (host) => {
    expect(isAllowed({}, host)).toBe(false);
  });
});

test.each([
  ["https://ops.example.com", "ops.example.com"],
  ["https://ops.example.com", "OPS.example.com.:8443"],
  ["https://Ops.Example.com:8443/deck", "ops.example.com:8443"],
  ["https://münchen.example", "xn--mnchen-3ya.example"],
  ["http://192.168.1.5:4000", "192.168.1.5:4000"],
  ["http://[2001:db8::1]:4000", "[2001:db8:0::1]:4000"],
])("with the public URL %s, %s is allowed", (publicUrl, host) => {
  expect(isAllowed({ publicUrl }, host)).toBe(true);
  expect(isAllowed({ publicUrl }, `${host.replace(/[.:].*$/, "")}.evil.example`)).toBe(false);
});

test.each([
  ["ops.internal", "ops.internal:4000"],
  ["192.168.1.5", "192.168.1.5:4000"],
  ["2001:db8::1", "[2001:db8::1]:4000"],
])("when listening on %s, %s is allowed", (listensOn, host) => {
  expect(isAllowed({ listensOn }, host)).toBe(true);
  expect(isAllowed({ listensOn }, "web-1")).toBe(false);
  expect(isAllowed({ listensOn }, "192.168.1.6")).toBe(false);
});

describe.each(["0.0.0.0", "::"])("listening on %s", (listensOn) => {
  test.each(["192.168.1.5:4000", "[2001:db8::1]", "0.0.0.0", "[::]:4000", "web-1", "WEB-1.:4000"])(
    "%s is allowed: an IP address cannot be rebound, and the machine's own name is known",
    (host) => {
      expect(isAllowed({ listensOn }, host)).toBe(true);
    },
  );

  test.each(["evil.example", "web-1.evil.example", "192.168.1.5.evil.example", "web-2"])(
    "%s is not",
    (host) => {
      expect(isAllowed({ listensOn }, host)).toBe(false);
    },
  );
});
