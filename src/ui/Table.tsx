import type { ComponentProps, ReactNode } from "react";

type TableProps = {
  /** What the rows are, for a screen reader. */
  label: string;
  children: ReactNode;
};

export function Table({ label, children }: TableProps) {
  return (
    <table aria-label={label} className="w-full border-collapse text-start text-sm">
      {children}
    </table>
  );
}

type CellProps = Pick<ComponentProps<"td">, "colSpan" | "children"> & {
  align?: "start" | "end";
  /** From which width of its panel on it is there; what a phone has no room for is folded into another cell. */
  from?: "always" | "sm" | "md";
  /** Takes all the room that the others leave; a text that is longer than that wants `truncate`. */
  isRest?: boolean;
  /** As wide as what it holds, such as a box. */
  isNarrow?: boolean;
};

const shown = {
  always: "",
  sm: "@max-2xl:hidden",
  md: "@max-3xl:hidden",
} as const;

// The first column begins below the panel's title.
const edge = "px-3 first:ps-4 last:pe-4 max-sm:first:ps-3 @max-2xl:px-1.5 @max-2xl:last:pe-1.5";

const narrow = "w-px pe-0";

export function HeadCell({
  align = "start",
  from = "always",
  isNarrow = false,
  ...rest
}: Omit<CellProps, "isRest">) {
  return (
    <th
      scope="col"
      className={`h-8 border-b border-line text-xs font-medium whitespace-nowrap text-muted ${edge} ${shown[from]} ${align === "end" ? "text-end" : ""} ${isNarrow ? narrow : ""}`}
      {...rest}
    />
  );
}

export function Cell({
  align = "start",
  from = "always",
  isRest = false,
  isNarrow = false,
  ...rest
}: CellProps) {
  return (
    <td
      className={`h-11 py-1.5 ${edge} ${shown[from]} ${align === "end" ? "text-end whitespace-nowrap" : ""} ${isRest ? "w-full max-w-0" : ""} ${isNarrow ? narrow : ""}`}
      {...rest}
    />
  );
}

/**
 * For a `<tr>`, which stays plain so that a room can give it a ref. The row that holds the focus is the current
 * one, to which keys apply, and has a mark at its start; a selected one is tinted.
 */
export const rowClass =
  "border-b border-line last:border-b-0 hover:bg-hover has-[td:first-child_:checked]:bg-accent-soft focus-within:*:first:shadow-[inset_3px_0_var(--accent)]";
