import { expect, test } from "vitest";
import { minSameBytes } from "./same-content.ts";
import { findSame } from "./store-again.ts";

const made = {
  base_id: null,
  storage_provider_id: 1,
  trigger: "schedule" as const,
  damage: null,
  checksum: "c0ffee",
  manifest: { kind: "folder" },
  plain_size: minSameBytes,
  source_state: "then",
};
const full = { ...made, id: 1 };
const patch = { ...made, id: 2, base_id: 1, source_state: "now" };

test.each([
  ["the full if nothing has changed since", [], {}, "then", 1],
  ["the full rather than a backup that refers to it", [{ source_state: "then" }], {}, "then", 1],
  ["the newest changes", [{}], {}, "now", 2],
  ["nothing if the state differs or is unknown", [{}], {}, "later", null],
  ["nothing if both states are unknown", [{ source_state: null }], {}, null, null],
  ["nothing for a full with an unknown state", [], { source_state: null }, "then", null],
  ["no damaged full", [], { damage: "Checksum mismatch" }, "then", null],
  ["no full of an older version, without a manifest", [], { manifest: null }, "then", null],
  ["no full that is too small to be referred to", [], { plain_size: 130 }, "then", null],
  ["no damaged changes", [{ damage: "Checksum mismatch" }], {}, "now", null],
  ["no changes since another full", [{ base_id: 7 }], {}, "now", null],
  ["no changes in another storage", [{ storage_provider_id: 2 }], {}, "now", null],
  ["no copy", [{ trigger: "copy" as const }], {}, "now", null],
] as const)("finds %s", (_, patches, ofFull, state, found) => {
  const base = { ...full, ...ofFull };
  const finished = [...patches.map((its) => ({ ...patch, ...its })), base];
  expect(findSame(finished, base, state)?.id ?? null).toBe(found);
});
