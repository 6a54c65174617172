import type { ReactNode } from "react";
import { countText } from "../../../contract/count-text.ts";

type PagerProps = {
  from: number | null;
  to: number | null;
  total: number;
  /** Links, created by the owner of the URL. */
  previous: ReactNode;
  next: ReactNode;
};

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
