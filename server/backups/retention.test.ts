import { array, assert, boolean, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { beyondHold } from "./retention.ts";

const copies = array(record({ isDamaged: boolean() }), { maxLength: 40 }).map((list) =>
  list.map(({ isDamaged }, index) => ({
    id: list.length - index,
    damage: isDamaged ? "its checksum differs" : null,
  })),
);

test("the newest good copies are kept, as many as the hold says, and nothing newer is removed", () => {
  assert(
    property(copies, integer({ min: 1, max: 10 }), (finished, hold) => {
      const removed = new Set(beyondHold(finished, hold).map(({ id }) => id));
      const good = finished.filter(({ damage }) => damage === null);
      expect(good.slice(0, hold).some(({ id }) => removed.has(id))).toBe(false);
      expect(good.slice(hold).every(({ id }) => removed.has(id))).toBe(true);
      const [newest] = finished;
      if (newest !== undefined) expect(removed.has(newest.id)).toBe(false);
      if (good.length === 0) expect(removed.size).toBe(0);
    }),
  );
});
