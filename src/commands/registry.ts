// The commands that are available now: each is registered while it is on the page. The palette lists them, and keys run
// them.

/** The label and key of a command, as shown by its button, the palette and the list of keys. */
export type CommandWords = {
  /** The full label: "Restart emails on redis (worker 7)". */
  label: string;
  /** A short label where the context is clear: "Restart". Default: the label. */
  name?: string;
  /**
   * A key or a sequence in the syntax of tinykeys: "r", "g b". Valid in the command's row, or otherwise on its page.
   */
  key?: string | undefined;
  /** It changes nothing, so that every token may run it. */
  reads?: true;
};

export type Command = CommandWords & {
  /** Why it cannot be run now. */
  refusal?: string | undefined;
  /** Whether it is running. */
  isPending?: boolean;
  run: () => void;
  /**
   * Its button, which determines its row and whether it is visible. A command without a button is for the whole
   * dashboard.
   */
  element?: HTMLElement;
};

export const registered = new Set<Command>();

/** @returns a function that removes the command */
export function register(command: Command): () => void {
  registered.add(command);
  return () => void registered.delete(command);
}
