// What a button looks like, for the button itself and for a link that acts as one.

export type ButtonVariant = "primary" | "secondary" | "ghost" | "danger";
export type ButtonSize = "md" | "sm" | "icon";

const variants: Record<ButtonVariant, string> = {
  primary: "bg-ink text-canvas border-transparent hover:opacity-85",
  secondary: "bg-raised text-ink border-line hover:bg-hover",
  ghost: "text-muted border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-bad text-canvas border-transparent hover:opacity-85",
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
  `inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap select-none aria-disabled:opacity-45 ${variants[variant]} ${sizes[size]}`;
