import { buttonClass, type ButtonSize, type ButtonVariant } from "../ui/button-class.ts";
import { Link, type LinkProps } from "./Link.tsx";

type LinkButtonProps = Omit<LinkProps, "className"> & {
  variant?: ButtonVariant;
  size?: ButtonSize;
  /** As of a `Button`. */
  command?: string;
  keys?: string;
};

/** A link that looks like a button, for what leads to another page. */
export function LinkButton({
  variant = "secondary",
  size = "md",
  command,
  keys,
  ...rest
}: LinkButtonProps) {
  return (
    <Link
      {...rest}
      data-command={command}
      aria-keyshortcuts={keys}
      className={buttonClass(variant, size)}
    />
  );
}
