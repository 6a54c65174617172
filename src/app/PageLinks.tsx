import { Suspense } from "react";
import { optionalPart } from "./routing/optional-part.ts";
import type { PagerLinksProps } from "./list/PagerLinks.tsx";

// Loaded later: most lists have one page, and the pager is below the rows.
const PagerLinks = optionalPart<PagerLinksProps>(
  async () => (await import("./list/PagerLinks.tsx")).PagerLinks,
);

/** The pager of a list whose page is in the URL. Renders nothing for a single page. */
export const PageLinks = (props: PagerLinksProps) =>
  props.meta.last_page > 1 || props.meta.current_page > 1 ? (
    <div className="min-h-11">
      <Suspense>
        <PagerLinks {...props} />
      </Suspense>
    </div>
  ) : null;
