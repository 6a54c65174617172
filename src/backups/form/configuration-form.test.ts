import { expect, test } from "vitest";
import type { Choices } from "./choices.ts";
import { advancedSummary, nameAfter, newValues } from "./configuration-form.ts";

const named = (id: number, name: string) => ({ id, name, label: name });
const choices: Choices = {
  databases: [named(3, "orders")],
  sites: [named(4, "shop.example.com")],
  providers: [named(5, "disk")],
};
const unlisted: Choices = { databases: null, sites: null, providers: null };

test.each<[string, Choices, object]>([
  ["", choices, { backupable_type: "database", name: "", storage_provider_id: 5 }],
  ["", { ...choices, databases: [] }, { backupable_type: "site", backupable_id: 4 }],
  ["type=site&id=4", choices, { backupable_id: 4, name: "shop.example.com" }],
  ["type=site&id=9", choices, { backupable_type: "site", backupable_id: 9, name: "" }],
  ["type=site&id=4", unlisted, { backupable_type: "site", backupable_id: 4, name: "" }],
])("for ?%s a new configuration has all values without alternatives", (search, of, values) => {
  expect(newValues(new URLSearchParams(search), of)).toMatchObject(values);
});

test("selects nothing if there are several choices, or if the list is unavailable", () => {
  const two = { ...choices, providers: [named(5, "disk"), named(6, "tape")] };
  for (const of of [two, unlisted])
    expect(newValues(new URLSearchParams(), of).storage_provider_id).toBeUndefined();
  expect(newValues(new URLSearchParams(), choices).backupable_id).toBeUndefined();
});

test.each([
  ["", "orders"],
  ["shop.example.com", "orders"],
  ["Mine", "Mine"],
])("after %j another source leads to the name %j", (name, expected) => {
  expect(nameAfter(name, named(3, "orders"), choices)).toBe(expected);
});

test.each([
  [
    { name: "Shop, nightly", hold: 7 },
    "Keeps the last 7 backups in shop-nightly. No restore drills.",
  ],
  [
    { hold: 1, directory: "a", drill: 7 },
    "Keeps the last backup in a. Restore drill every 7 days.",
  ],
  [
    {
      backupable_type: "site" as const,
      exclude: ["*.log", "", "# no pattern"],
      exclude_caches: true,
    },
    "Keeps the last 30 backups. Excludes what 1 pattern matches and caches. No restore drills.",
  ],
  [
    { backupable_type: "site" as const, exclude: ["*.log", "*.tmp"] },
    "Keeps the last 30 backups. Excludes what 2 patterns match. No restore drills.",
  ],
  [{ hold: Number.NaN }, "No restore drills."],
  [{ keep: { daily: Number.NaN } }, "Keeps the last 30 backups. No restore drills."],
  [{ drill: 1 }, "Keeps the last 30 backups. Restore drill every day."],
])("summarizes %j as: %s", (values, summary) => {
  expect(advancedSummary(values, { keptHold: 30, keptDirectory: "", isOurs: true })).toBe(summary);
});

test("does not mention what only Quarterdeck supports", () => {
  const theirs = { keptHold: 7, keptDirectory: "", isOurs: false };
  expect(advancedSummary({ name: "Shop" }, theirs)).toBe("Keeps the last 7 backups.");
});
