import { type Command, type CommandWords, register } from "../commands/registry.ts";
import type { ButtonSize } from "./button-class.ts";

/** What a button shows of its command, which is registered while the button is on the page. */
export const buttonCommand = (
  command: CommandWords | undefined,
  size: ButtonSize | undefined,
  state?: Pick<Command, "refusal" | "isPending">,
) =>
  command && {
    ref: (element: HTMLElement | null) =>
      // As a click, so that the button and whatever runs it do and refuse the same.
      element ? register({ ...command, ...state, element, run: () => element.click() }) : undefined,
    "aria-label": command.label,
    "aria-keyshortcuts": command.key,
    "data-tip": size === "icon" ? (command.name ?? command.label) : undefined,
  };
