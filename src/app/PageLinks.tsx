import { Suspense } from "react";
import { optionalPart } from "./optional-part.ts";
import type { PagerLinksProps } from "./PagerLinks.tsx";

// Most lists have one page, and the others are read from the top.
const PagerLinks = optionalPart<PagerLinksProps>(
  async () => (await import("./PagerLinks.tsx")).PagerLinks,
);

/** The pager of a list whose page stands in the address. There is none for what fits on one page. */
export const PageLinks = (props: PagerLinksProps) =>
  props.meta.last_page > 1 || props.meta.current_page > 1 ? (
    <div className="min-h-11">
      <Suspense>
        <PagerLinks {...props} />
      </Suspense>
    </div>
  ) : null;
