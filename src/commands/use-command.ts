import { useLayoutEffect } from "react";
import { type Command, register } from "./registry.ts";

/** For a command without a button; that of a button is a property of the button. */
export function useCommand(command: Command): void {
  // Before the paint, so that what can be seen can be run.
  useLayoutEffect(() => register(command));
}
