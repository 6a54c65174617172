import { expect, test } from "vitest";
import { type Marked, toCommands } from "./commands.ts";

type Facts = { row?: Element; isHidden?: boolean; reason?: string; state?: "disabled" | "busy" };

const button = (command: string, { row, isHidden = false, reason, state }: Facts = {}): Marked => ({
  dataset: { command, ...(reason !== undefined && { reason }) },
  checkVisibility: () => !isHidden,
  // The only thing that is looked for is the row.
  closest: () => row ?? null,
  getAttribute: (name: string) =>
    (name === "aria-disabled" && state !== undefined) || (name === "aria-busy" && state === "busy")
      ? "true"
      : null,
});

/** Rows are told apart by being the same one, and by nothing else. */
const newRow = () => ({}) as Element;
const focusIn = (row: Element) => ({ closest: () => row }) as unknown as Element;

const words = (buttons: Marked[], from: Element | null = null) =>
  toCommands(buttons, from).map(({ label }) => label);

test("what is on screen is offered in the page's order, and what is hidden is not", () => {
  expect(
    words([button("New worker"), button("Stop worker 1", { isHidden: true }), button("Copy log")]),
  ).toEqual(["New worker", "Copy log"]);
});

test("the row that the focus was in comes first", () => {
  const [one, two] = [newRow(), newRow()];
  const buttons = [
    button("New worker"),
    button("Stop worker 1", { row: one }),
    button("Stop worker 2", { row: two }),
  ];
  expect(words(buttons, focusIn(two))).toEqual(["Stop worker 2", "New worker", "Stop worker 1"]);
});

test("what cannot be pressed comes last and says why", () => {
  const reason = "Can't stop while the status is installing.";
  const commands = toCommands(
    [
      button("Stop worker 1", { state: "disabled", reason }),
      button("Run now: Orders", { state: "busy" }),
      button("Delete worker 1"),
    ],
    null,
  );
  expect(commands.map(({ label, refusal }) => [label, refusal])).toEqual([
    ["Delete worker 1", undefined],
    ["Stop worker 1", reason],
    ["Run now: Orders", "The action is in progress."],
  ]);
});

test("the same command twice is one, the one that can be pressed", () => {
  expect(
    toCommands([button("New worker", { state: "disabled" }), button("New worker")], null),
  ).toMatchObject([{ label: "New worker", act: { kind: "press", words: "New worker" } }]);
});
