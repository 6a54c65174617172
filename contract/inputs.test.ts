import * as z from "zod/mini";
import { expect, test } from "vitest";
import { createTokenBody } from "./bodies.ts";
import { updateBackupConfigurationBody } from "./backups/bodies.ts";
import { fileEntries, requestEntries } from "./inventory/entries.ts";
import "./validation-messages.ts";

const names = [
  createTokenBody.shape.name,
  updateBackupConfigurationBody.shape.name,
  fileEntries.servers.shape.name,
  requestEntries.sites.shape.name,
];

test.each([
  ["shop\u200b, nightly", "shop, nightly"],
  ["\u202aC:\\shop\u202c ", "C:\\shop"],
  ["invoice\u202egnp.exe", "invoicegnp.exe"],
  ["👨\u200d👩\u200d👧 nightly", "👨\u200d👩\u200d👧 nightly"],
  ["שלום \u200e(1)", "שלום \u200e(1)"],
])("stores the name %j as it is displayed", (given, kept) => {
  for (const name of names) expect(z.parse(name, given)).toBe(kept);
});

test("refuses a name without visible characters", () => {
  for (const name of names)
    for (const given of ["\u200b\u2060", " \ufeff ", "\u202e"])
      expect(name.safeParse(given).success, JSON.stringify(given)).toBe(false);
});
