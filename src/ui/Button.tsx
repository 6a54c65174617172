import { type ComponentProps, type MouseEvent, useId } from "react";
import { buttonClass, type ButtonSize, type ButtonVariant } from "./button-class.ts";

export type ButtonProps = Omit<ComponentProps<"button">, "disabled" | "className"> & {
  variant?: ButtonVariant;
  size?: ButtonSize;
  /** Under way: further clicks do nothing. */
  isPending?: boolean | undefined;
  /** Why it cannot be used now. The button stays focusable, so that everyone can find out. */
  disabledReason?: string | undefined;
  /** Shown on hover and focus; for a button whose whole text is an icon. */
  tip?: string | undefined;
  /** What it does in full words, e.g. "Restart worker 7": with it the palette offers to press it. */
  command?: string | undefined;
  /** The key that presses it: in its row, or on its page. */
  keys?: string | undefined;
};

export function Button({
  variant = "secondary",
  size = "md",
  isPending = false,
  disabledReason,
  tip,
  command,
  keys,
  type = "button",
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const reasonId = useId();
  const isDisabled = isPending || disabledReason !== undefined;
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    // Also stops the Enter of a form, which is a click on its submit button.
    if (isDisabled) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button
      {...rest}
      // oxlint-disable-next-line react/button-has-type -- it has one, "button" unless told otherwise
      type={type}
      className={buttonClass(variant, size)}
      aria-disabled={isDisabled || undefined}
      aria-busy={isPending || undefined}
      aria-describedby={disabledReason === undefined ? rest["aria-describedby"] : reasonId}
      data-command={command}
      aria-keyshortcuts={keys ?? rest["aria-keyshortcuts"]}
      data-tip={tip}
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
