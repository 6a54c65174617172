import { expect, test } from "vitest";
import { leavesRoot } from "./directory.ts";

test.each([
  ["current", false],
  ["current/../other", false],
  ["./", false],
  ["/srv/shop", false],
  ["/srv/shop/current/", false],
  ["../shop/current", false],
  ["..", true],
  ["current/../..", true],
  ["../../../..", true],
  ["/srv", true],
  ["/srv/shop-2", true],
  ["/srv/shop/../blog", true],
  ["/etc", true],
])("relative to the site in /srv/shop, %s leaves its folder: %s", (directory, leaves) => {
  expect(leavesRoot("/srv/shop", directory)).toBe(leaves);
  expect(leavesRoot("/srv/shop/", directory)).toBe(leaves);
});
