// What can be done at the moment: each command is registered while it is on the page. The palette lists them, and those
// with a key are run by it.

/** How a command is called, and its key: what the button, the palette and the list of keys all show. */
export type CommandWords = {
  /** In full: "Restart emails on redis (worker 7)". */
  label: string;
  /** Where the place says the rest: "Restart". The label unless it is given. */
  name?: string;
  /** One key or a sequence, as tinykeys reads it: "r", "g b". It holds in the command's row, or else on its page. */
  key?: string | undefined;
  /** It changes nothing at the service, so that every token may run it. */
  reads?: true;
};

export type Command = CommandWords & {
  /** Why it cannot be run now. */
  refusal?: string | undefined;
  /** It was run and has not ended. */
  isPending?: boolean;
  run: () => void;
  /** Its button, which tells its row and whether it is on screen. One without a button is for the whole dashboard. */
  element?: HTMLElement;
};

export const registered = new Set<Command>();

/** @returns what ends it */
export function register(command: Command): () => void {
  registered.add(command);
  return () => void registered.delete(command);
}
