import { expect, test } from "vitest";
import {
  abilityText,
  expiryOf,
  expiryOptionsUntil,
  momentAfter,
  serversText,
} from "./token-facts.ts";

test("describes a token with all permissions as such, whatever else it has", () => {
  expect(abilityText({ abilities: ["read"] })).toBe("Read");
  expect(abilityText({ abilities: ["read", "*"] })).toBe("Everything");
});

test("names its servers, and still lists one that was removed from the inventory", () => {
  const servers = [
    { id: 1, name: "web-1" },
    { id: 2, name: "db-1" },
  ];
  expect(serversText(null, servers)).toBe("All servers");
  expect(serversText([2, 7], servers)).toBe("db-1, Server 7");
});

const now = Date.parse("2026-03-01T12:00:00Z");
test.each([
  [null, "never"],
  ["2026-03-01T12:00:00.000000Z", "past"],
  ["2026-03-08T11:59:59.000000Z", "soon"],
  ["2026-03-08T12:00:00.000000Z", "later"],
] as const)("a token that expires at %s expires %s", (at, expected) => {
  expect(expiryOf({ expires_at: at }, now)).toBe(expected);
});

test("offers no expiry later than that of the token in use", () => {
  const labels = (latest: string | null) =>
    expiryOptionsUntil(latest, now).map(({ label }) => label);
  expect(labels(null)).toEqual(["Never", "In 7 days", "In 30 days", "In 90 days", "In 1 year"]);
  expect(labels("2026-03-31T12:00:00.000000Z")).toEqual([
    "With the current token",
    "In 7 days",
    "In 30 days",
  ]);
  expect(labels("2026-03-02T12:00:00.000000Z")).toEqual(["With the current token"]);
});

test("counts the days until an expiry from now", () => {
  expect(momentAfter(30, now)?.toISOString()).toBe("2026-03-31T12:00:00.000Z");
  expect(momentAfter(null, now)).toBeNull();
});
