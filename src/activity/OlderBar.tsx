import { useMutation } from "../api/mutate.ts";
import { type Activity, activityPerPage } from "../../contract/activity.ts";
import { callExtra } from "../api/query.ts";
import { ErrorText } from "../app/ErrorText.tsx";
import { Button } from "../ui/button/Button.tsx";
import { type Filter, toQuery } from "./filter.ts";
import { changeTimeline } from "./queries.ts";
import { withOlder } from "./timeline.ts";

type OlderBarProps = { filter: Filter; shown: Activity };

/** Loads older entries. At the end the button stays, disabled, so that the focus is not lost. */
export function OlderBar({ filter, shown }: OlderBarProps) {
  const { next } = shown;
  const {
    mutate: showOlder,
    isPending,
    error,
  } = useMutation({
    mutationFn: async (before: number) => ({
      before,
      older: await callExtra("listActivity", {}, { ...toQuery(filter), before: String(before) }),
    }),
    onSuccess: ({ before, older }) => {
      if (older !== null) changeTimeline(filter, (list) => withOlder(list, older, before));
    },
  });
  if (next === null && shown.data.length <= activityPerPage) return null;
  return (
    <div className="flex min-h-11 flex-wrap items-center justify-center gap-3 border-t border-line px-4 py-1.5 text-sm">
      <Button
        size="sm"
        isPending={isPending}
        disabledReason={next === null ? "Start of the timeline." : undefined}
        onClick={() => next !== null && showOlder(next)}
      >
        {next === null ? "No older entries" : "Show older"}
      </Button>
      <span role="alert" className="text-bad empty:hidden">
        {error !== null && <ErrorText error={error} />}
      </span>
      <output className="sr-only">{shown.data.length} entries shown.</output>
    </div>
  );
}
