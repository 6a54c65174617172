import { expect, test } from "vitest";
import { canUndo } from "./undo.ts";

const at = (second: number) => `2026-06-10T02:30:0${second}.000000Z`;
const restored = { id: 1, restored_at: at(3) };
const safety = {
  status: "finished",
  restore_status: null,
  drill_status: null,
  pinned_at: null,
  locked_until: null,
};

test.each([
  ["once it has ended", safety, [restored], true],
  ["while that is under way", { ...safety, restore_status: "running" }, [restored], false],
  ["once that is done", safety, [restored, { id: 2, restored_at: at(5) }], false],
  [
    "although another backup was restored before",
    safety,
    [restored, { id: 2, restored_at: at(1) }],
    true,
  ],
])("whether a restore can be undone: %s", (_, saved, backups, expected) => {
  expect(canUndo(restored, saved, { backups })).toBe(expected);
});
