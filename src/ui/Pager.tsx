import type { ReactNode } from "react";

type PagerProps = {
  from: number | null;
  to: number | null;
  total: number;
  /** Links, as the owner of the address makes them. */
  previous: ReactNode;
  next: ReactNode;
};

/** What is below a thousand has nothing to group, and most lists are that short. */
const countText = (count: number) =>
  count < 1_000 ? String(count) : new Intl.NumberFormat("en").format(count);

export function Pager({ from, to, total, previous, next }: PagerProps) {
  return (
    <nav
      aria-label="Pages"
      className="flex min-h-11 items-center gap-2 border-t border-line px-4 py-1.5 text-sm text-muted max-sm:px-3"
    >
      <p>
        {from === null || to === null
          ? `None of ${countText(total)}`
          : `${countText(from)}–${countText(to)} of ${countText(total)}`}
      </p>
      <div className="ms-auto flex gap-2">
        {previous}
        {next}
      </div>
    </nav>
  );
}
