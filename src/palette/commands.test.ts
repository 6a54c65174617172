import { expect, test } from "vitest";
import type { Command } from "../commands/registry.ts";
import { toEntries } from "./commands.ts";

/** A row, compared by identity. */
type Row = { name: string };
// Node has no DOM; this object has the one method that is called.
const inRow = (row: Row | null) => ({ closest: () => row }) as unknown as HTMLElement;

type Facts = Pick<Command, "refusal" | "isPending"> & { row?: Row };

const command = (label: string, { row, ...state }: Facts = {}): Command => ({
  label,
  run: () => {},
  element: inRow(row ?? null),
  ...state,
});

const labels = (commands: Command[], from: Element | null = null) =>
  toEntries(commands, from).map(({ label }) => label);

test("lists commands in the page's order, including those without a button", () => {
  expect(
    labels([command("New worker"), command("Copy log"), { label: "Reload", run: () => {} }]),
  ).toEqual(["New worker", "Copy log", "Reload"]);
});

test("lists the row that had the focus first", () => {
  const [one, two] = [{ name: "one" }, { name: "two" }];
  const commands = [
    command("New worker"),
    command("Stop worker 1", { row: one }),
    command("Stop worker 2", { row: two }),
  ];
  expect(labels(commands, inRow(two))).toEqual(["Stop worker 2", "New worker", "Stop worker 1"]);
});

test("lists disabled commands last, with the reason", () => {
  const refusal = "Can't stop while the status is installing.";
  const entries = toEntries(
    [
      command("Stop worker 1", { refusal }),
      command("Run now: Orders", { isPending: true }),
      command("Delete worker 1"),
    ],
    null,
  );
  expect(entries.map(({ label, refusal: reason }) => [label, reason])).toEqual([
    ["Delete worker 1", undefined],
    ["Stop worker 1", refusal],
    ["Run now: Orders", "The action is in progress."],
  ]);
});

test("lists a duplicate command once, preferably the enabled one", () => {
  const entries = toEntries(
    [command("New worker", { refusal: "No." }), command("New worker")],
    null,
  );
  expect(entries).toMatchObject([{ label: "New worker", refusal: undefined }]);
});
