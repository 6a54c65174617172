import { expect, test } from "vitest";
import { endOf, follow, type End, type Seen } from "./follow.ts";

test.each([
  [{ status: "stopping" }, { kind: "moving", word: "stopping" }],
  [{ status: "stopped" }, { kind: "ended", word: "stopped" }],
  [
    { status: "failed", reason: "It exits.\nlog" },
    { kind: "broken", reason: "It exits." },
  ],
  [{ status: undefined }, { kind: "ended", word: null }],
  [null, { kind: "ended", word: "deleted" }],
])("%o has the outcome %o", (seen, end) => {
  expect(endOf(seen)).toEqual(end);
});

test("polls until everything has settled, even during an outage of the service", async () => {
  const answers: (ReadonlyMap<number, Seen> | null)[] = [
    new Map([
      [1, { status: "starting" }],
      [2, { status: "removing" }],
    ]),
    null,
    new Map([[1, { status: "failed", reason: null }]]),
  ];
  const noted: End["kind"][][] = [];
  await follow({
    ids: new Set([1, 2]),
    look: async () => {
      const answer = answers.shift();
      if (!answer) throw new Error("away");
      return answer;
    },
    note: (ends) => noted.push([...ends.values()].map(({ kind }) => kind)),
    isOver: () => false,
    pause: async () => {},
  });
  expect(noted).toEqual([
    ["moving", "moving"],
    ["broken", "ended"],
  ]);
});

test("stops polling when nobody is subscribed any more", async () => {
  let looks = 0;
  await follow({
    ids: new Set([1]),
    look: async () => {
      looks += 1;
      return new Map([[1, { status: "starting" }]]);
    },
    note: () => {},
    isOver: () => looks === 3,
    pause: async () => {},
  });
  expect(looks).toBe(3);
});
