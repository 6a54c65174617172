import { buttonClass, type ButtonSize, type ButtonVariant } from "../ui/button-class.ts";
import { Link, type LinkProps } from "./Link.tsx";

type LinkButtonProps = Omit<LinkProps, "className"> & {
  variant?: ButtonVariant;
  size?: ButtonSize;
};

/** A link that looks like a button, for what leads to another page. */
export function LinkButton({ variant = "secondary", size = "md", ...rest }: LinkButtonProps) {
  return <Link {...rest} className={buttonClass(variant, size)} />;
}
