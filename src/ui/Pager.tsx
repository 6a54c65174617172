import type { ReactNode } from "react";

type PagerProps = {
  from: number | null;
  to: number | null;
  total: number;
  /** Links, as the owner of the address makes them. */
  previous: ReactNode;
  next: ReactNode;
};

const number = new Intl.NumberFormat("en");

export function Pager({ from, to, total, previous, next }: PagerProps) {
  return (
    <nav
      aria-label="Pages"
      className="flex min-h-11 items-center gap-2 border-t border-line px-4 py-1.5 text-sm text-muted max-sm:px-3"
    >
      <p>
        {from === null || to === null
          ? `None of ${number.format(total)}`
          : `${number.format(from)}–${number.format(to)} of ${number.format(total)}`}
      </p>
      <div className="ms-auto flex gap-2">
        {previous}
        {next}
      </div>
    </nav>
  );
}
