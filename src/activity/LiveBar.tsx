// The bar above the list: number of entries, and new entries since. They are inserted on request, so that the list does
// not move while it is read.
import { useQuery } from "@tanstack/react-query";
import type { Activity } from "../../contract/activity.ts";
import { countOf } from "../../contract/count-text.ts";
import { Button } from "../ui/button/Button.tsx";
import type { Filter } from "./filter.ts";
import { changeTimeline, newerQuery } from "./queries.ts";
import { withNewer } from "./timeline.ts";

const liveMs = 5_000;

const none: Activity = { data: [], next: null };

const entries = (count: number) => countOf(count, "entry", "entries");

type LiveBarProps = { filter: Filter; shown: Activity };

export function LiveBar({ filter, shown }: LiveBarProps) {
  const newest = shown.data[0]?.id ?? 0;
  const { data: newer } = useQuery({
    ...newerQuery(filter, newest),
    // Right after loading, nothing newer is known.
    initialData: none,
    refetchInterval: liveMs,
  });
  const fresh = newer?.data ?? [];
  const countText = `${fresh.length}${newer?.next === null ? "" : "+"}`;
  const newText = `${countText} new ${fresh.length === 1 ? "entry" : "entries"}`;
  const show = () => {
    // Scrolls to the top first: there, scroll anchoring does not keep the old entries in view.
    scrollTo({ top: 0 });
    if (newer) changeTimeline(filter, (list) => withNewer(list, newer));
  };
  return (
    <div className="sticky top-12 z-[5] -mb-px flex min-h-11 items-center gap-3 border-b border-line bg-raised px-4 py-1.5 text-sm text-muted max-sm:px-3 lg:top-0">
      {shown.data.length > 0 && (
        <p>
          {entries(shown.data.length)}
          <span className="max-sm:hidden">, newest first</span>
        </p>
      )}
      {/* Announced when the number changes, not at each poll. */}
      <output className="sr-only">{fresh.length > 0 && newText}</output>
      <span className="ms-auto">
        <Button
          size="sm"
          variant={fresh.length > 0 ? "primary" : "secondary"}
          disabledReason={
            fresh.length > 0 ? undefined : "Quarterdeck checks for new entries every few seconds."
          }
          onClick={show}
        >
          {fresh.length > 0 ? `Show ${newText}` : "No new entries"}
        </Button>
      </span>
    </div>
  );
}
