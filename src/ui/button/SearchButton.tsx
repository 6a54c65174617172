import type { ComponentProps } from "react";
import { Icon } from "../Icon.tsx";
import { Key } from "../text/Key.tsx";

type SearchButtonProps = Omit<ComponentProps<"button">, "className" | "children" | "type"> & {
  label: string;
  /** The equivalent key, as labeled on this machine's keyboard. */
  hint: string;
};

/** Looks like the search field that it opens. */
export function SearchButton({ label, hint, ...rest }: SearchButtonProps) {
  return (
    <button
      {...rest}
      type="button"
      className="flex h-8 w-full items-center gap-2 rounded-md border border-line bg-raised px-2 text-muted hover:text-ink"
    >
      <Icon name="search" />
      <span className="flex-1 text-start">{label}</span>
      <Key>{hint}</Key>
    </button>
  );
}
