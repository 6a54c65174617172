import { type ComponentProps, type MouseEvent, useId } from "react";
import { useChangeRefusal } from "../../commands/permission.ts";
import type { CommandWords } from "../../commands/registry.ts";
import { buttonClass, type ButtonSize, type ButtonVariant } from "./button-class.ts";
import { buttonCommand } from "./button-command.ts";

type ButtonProps = Omit<ComponentProps<"button">, "disabled" | "className"> & {
  variant?: ButtonVariant;
  size?: ButtonSize;
  /** Whether the action is running: further clicks do nothing. */
  isPending?: boolean | undefined;
  /** Why it is disabled. The button stays focusable, so that everyone can find out. */
  disabledReason?: string | undefined;
  /**
   * Registers the button as a command for the palette and its key. The command sets its accessible name and its `ref`.
   */
  command?: CommandWords | undefined;
  /**
   * Whether it changes data, which a token may forbid. Default: true for a command, for a submit button, and for the
   * danger variant.
   */
  isChange?: boolean;
};

export function Button({
  variant,
  size,
  isPending = false,
  disabledReason: ownReason,
  command,
  type = "button",
  isChange = type === "submit" || variant === "danger" || (command && !command.reads) === true,
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const reasonId = useId();
  const disabledReason = useChangeRefusal(isChange) ?? ownReason;
  const isDisabled = isPending || disabledReason !== undefined;
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    // Also stops Enter in a form, which clicks the submit button.
    if (isDisabled) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button
      {...buttonCommand(command, size, { refusal: disabledReason, isPending })}
      {...rest}
      // oxlint-disable-next-line react/button-has-type -- it has one, "button" unless told otherwise
      type={type}
      className={buttonClass(variant, size)}
      aria-disabled={isDisabled || undefined}
      aria-busy={isPending || undefined}
      aria-describedby={disabledReason === undefined ? rest["aria-describedby"] : reasonId}
      data-reason={disabledReason}
      onClick={press}
    >
      {children}
      {disabledReason !== undefined && (
        <span id={reasonId} hidden>
          {disabledReason}
        </span>
      )}
    </button>
  );
}
