import { type Command, type CommandWords, register } from "../../commands/registry.ts";
import type { ButtonSize } from "./button-class.ts";

/** Returns the props of a button with a command, which is registered while the button is on the page. */
export const buttonCommand = (
  command: CommandWords | undefined,
  size: ButtonSize | undefined,
  state?: Pick<Command, "refusal" | "isPending">,
) =>
  command && {
    ref: (element: HTMLElement | null) =>
      // As a click, so that the button and all other ways to run the command behave alike.
      element ? register({ ...command, ...state, element, run: () => element.click() }) : undefined,
    "aria-label": command.label,
    "aria-keyshortcuts": command.key,
    "data-tip": size === "icon" ? (command.name ?? command.label) : undefined,
  };
