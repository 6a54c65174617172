// The classes of buttons, and of links that look like buttons.

export type ButtonVariant = "primary" | "secondary" | "ghost" | "danger";
export type ButtonSize = "md" | "sm" | "icon";

const variants: Record<ButtonVariant, string> = {
  primary: "bg-brand text-on-brand border-transparent not-aria-disabled:hover:bg-brand-hover",
  secondary: "bg-raised text-ink border-line shadow-raised not-aria-disabled:hover:border-edge",
  ghost: "text-muted border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-danger text-on-brand border-transparent not-aria-disabled:hover:bg-danger-hover",
};

const sizes: Record<ButtonSize, string> = {
  md: "h-8 px-2.5 gap-1.5",
  sm: "h-7 px-2 gap-1.5 text-sm",
  icon: "size-8 justify-center",
};

export const buttonClass = (
  variant: ButtonVariant = "secondary",
  size: ButtonSize = "md",
): string =>
  `inline-flex has-[>.text-bad]:text-bad shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap select-none aria-disabled:opacity-45 ${variants[variant]} ${sizes[size]}`;
