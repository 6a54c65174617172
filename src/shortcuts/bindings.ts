// What each key does: those of lists, which every page has, and those of the commands that are registered at the moment.
import { dismissToast, toast, toasts } from "../app/toasts.ts";
import { currentCommands } from "../commands/current-commands.ts";
import { type Command, type CommandWords, registered } from "../commands/registry.ts";
import { currentRow, isInRow, moveRow, selectRow } from "./rows.ts";

export type Binding = CommandWords & {
  key: string;
  /** @returns whether there was something to do; if not, the key stays the browser's own */
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

/** The bar of a selection; its commands come before those of a single row. */
const barSelector = "[data-selection-bar]";

export const hasSelection = (): boolean => document.querySelector(barSelector) !== null;

/** The commands that have a key, from near to far: of the selection, of a row, of the page. */
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

/** Of the refusals, the newest is enough. */
let lastRefusal: number | null = null;

function runCommand(key: string): boolean {
  const { selection, row, page } = keyedCommands(currentRow());
  // The bar is on its way: what is meant for all that are selected must not fall on a single row.
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

/** After what a page has to close. */
const dismissKey: Binding = {
  key: "Escape",
  label: "Dismiss message",
  run() {
    const newest = toasts.get().at(-1);
    if (newest !== undefined) dismissToast(newest.id);
    return newest !== undefined;
  },
};

/** Each key once: which of the commands that have it is meant, is known when it is pressed. */
export function currentBindings(): Binding[] {
  const commands = new Map<string, Binding>();
  for (const { key, label } of registered)
    if (key !== undefined) commands.set(key, { key, label, run: () => runCommand(key) });
  return [...walkKeys, ...selectKeys, ...commands.values(), dismissKey];
}
