import { expect, test } from "vitest";
import { createOverdueFinder } from "./overdue.ts";

const hourMs = 3_600_000;
const now = new Date("2026-06-01T12:30:00Z");
/** A configuration that runs every hour. */
const begunAgo = (id: number, ms: number) => ({
  id,
  frequency: "0 * * * *",
  timeZone: "UTC",
  begun: new Date(now.getTime() - ms - id),
});

test("finds what has not started a quarter of its interval after it was due", async () => {
  const find = createOverdueFinder();
  const due = new Date("2026-06-01T12:00:00Z");
  const watched = [begunAgo(1, hourMs), begunAgo(2, hourMs / 4)];
  for (let look = 0; look < 2; look++) expect(await find(watched, now)).toEqual([{ id: 1, due }]);
});

test("yields to other work while it judges thousands of schedules", async () => {
  const watched = Array.from({ length: 4000 }, (_, index) => begunAgo(index + 1, 0));
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await createOverdueFinder()(watched, now);
  isOver = true;
  expect(turns).toBeGreaterThan(10);
});
