import { buttonClass, type ButtonSize, type ButtonVariant } from "../ui/button/button-class.ts";
import { leadsToForm, useChangeRefusal } from "../commands/permission.ts";
import type { CommandWords } from "../commands/registry.ts";
import { buttonCommand } from "../ui/button/button-command.ts";
import { Link, type LinkProps } from "./Link.tsx";

type LinkButtonProps = Omit<LinkProps, "className"> & {
  variant?: ButtonVariant;
  size?: ButtonSize;
  /** See `Button`. */
  command?: CommandWords | undefined;
};

/** A link to another page that looks like a button. */
export function LinkButton({ variant, size, command, ...rest }: LinkButtonProps) {
  const refusal = useChangeRefusal(leadsToForm(rest.to));
  return (
    <Link
      {...buttonCommand(command, size, { refusal })}
      {...rest}
      className={buttonClass(variant, size)}
    />
  );
}
