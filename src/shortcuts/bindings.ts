// The binding of each key: list navigation on every page, and the commands that are registered now.
import { dismissToast, toast, toasts } from "../app/toasts.ts";
import { currentCommands } from "../commands/current-commands.ts";
import { type Command, type CommandWords, registered } from "../commands/registry.ts";
import { currentRow, isInRow, moveRow, selectRow } from "./rows.ts";

export type Binding = CommandWords & {
  key: string;
  /** @returns whether the key was handled; otherwise the browser handles it */
  run: () => boolean;
};

export const walkKeys: readonly Binding[] = [
  { key: "j", label: "Next row", run: () => moveRow(1) },
  { key: "k", label: "Previous row", run: () => moveRow(-1) },
];

export const selectKeys: readonly Binding[] = [
  { key: "x", label: "Select row", run: () => selectRow(false) },
  { key: "Shift+x", label: "Extend selection to row", run: () => selectRow(true) },
];

/** The bar of a selection, whose commands take precedence over those of a single row. */
const barSelector = "[data-selection-bar]";

export const hasSelection = (): boolean => document.querySelector(barSelector) !== null;

/** Returns the commands with a key, from near to far: of the selection, the current row, and the page. */
export function keyedCommands(row: Element | null) {
  const commands = currentCommands().filter(({ key }) => key !== undefined);
  const isOfBar = ({ element }: Command) => (element?.closest(barSelector) ?? null) !== null;
  const isOfRow = ({ element }: Command) => element !== undefined && isInRow(element);
  return {
    selection: commands.filter(isOfBar),
    row: commands.filter(({ element }) => element !== undefined && row?.contains(element) === true),
    page: commands.filter((command) => !isOfBar(command) && !isOfRow(command)),
  };
}

/** Id of the last toast with a refusal, which a new one replaces. */
let lastRefusal: number | null = null;

function runCommand(key: string): boolean {
  const { selection, row, page } = keyedCommands(currentRow());
  // While the bar is loading, a key for all selected rows must not apply to a single row.
  if (selection.length === 0 && hasSelection()) return false;
  const command = [...selection, ...row, ...page].find((one) => one.key === key);
  if (command === undefined) return false;
  if (command.refusal === undefined) command.run();
  else {
    if (lastRefusal !== null) dismissToast(lastRefusal);
    lastRefusal = toast.failure(command.refusal);
  }
  return true;
}

/** Applies after the page's own uses of Escape. */
const dismissKey: Binding = {
  key: "Escape",
  label: "Dismiss message",
  run() {
    const newest = toasts.get().at(-1);
    if (newest !== undefined) dismissToast(newest.id);
    return newest !== undefined;
  },
};

/** Lists each key once; which of its commands runs is decided when it is pressed. */
export function currentBindings(): Binding[] {
  const commands = new Map<string, Binding>();
  for (const { key, label } of registered)
    if (key !== undefined) commands.set(key, { key, label, run: () => runCommand(key) });
  return [...walkKeys, ...selectKeys, ...commands.values(), dismissKey];
}
