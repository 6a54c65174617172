// The commands of the current page as entries.
import { currentCommands } from "../commands/current-commands.ts";
import type { Command } from "../commands/registry.ts";
import { toast } from "../app/toasts.ts";
import type { Entry } from "./entry.ts";

const refusalOf = ({ refusal, isPending = false }: Command) =>
  isPending ? "The action is in progress." : refusal;

/** Runs the present command with this label: a poll may have changed the page since it was listed. */
function run(label: string): void {
  const command = currentCommands().find((one) => one.label === label);
  const refusal =
    command === undefined ? "The action is no longer on the page." : refusalOf(command);
  if (refusal === undefined) command?.run();
  else toast.failure(`Couldn't run “${label}”.`, refusal);
}

const toEntry = (command: Command): Entry => ({
  key: `command ${command.label}`,
  group: command.element === undefined ? "go" : "page",
  icon: "act",
  label: command.label,
  detail: "",
  refusal: refusalOf(command),
  act: { kind: "run", run: () => run(command.label) },
});

/**
 * Enabled commands come first, and among those the ones of the row that had the focus.
 * @param commands in the order of the page
 */
export function toEntries(commands: readonly Command[], from: Element | null): readonly Entry[] {
  const row = from?.closest("tr, li") ?? null;
  const found = new Map<string, { entry: Entry; rank: number }>();
  for (const command of commands) {
    const entry = toEntry(command);
    const isNear = row !== null && command.element?.closest("tr, li") === row;
    const rank = entry.refusal !== undefined ? 2 : isNear ? 0 : 1;
    // An empty list has its create button twice.
    if (rank < (found.get(entry.label)?.rank ?? Infinity)) found.set(entry.label, { entry, rank });
  }
  return [...found.values()].sort((a, b) => a.rank - b.rank).map(({ entry }) => entry);
}
