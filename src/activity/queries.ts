// Queries of the timeline; null for a service without one.
import { addOperations } from "../api/client.ts";
import { lateOperations } from "../../contract/late-operations.ts";
import type { Activity } from "../../contract/activity.ts";
import { extraQuery, queryClient } from "../api/query.ts";
import { type Filter, toQuery } from "./filter.ts";

addOperations(lateOperations);

/** The loaded entries. Never refetched automatically, so that they do not move while they are read. */
export const timelineQuery = (filter: Filter) => ({
  ...extraQuery("listActivity", {}, toQuery(filter)),
  staleTime: Infinity,
});

/**
 * Newer entries.
 * @param newest id of the newest entry that is shown, 0 = none
 */
export function newerQuery(filter: Filter, newest: number) {
  const { queryKey, queryFn } = extraQuery(
    "listActivity",
    {},
    { ...toQuery(filter), ...(newest > 0 && { after: String(newest) }) },
  );
  return { queryKey: [...queryKey, "newer"], queryFn, gcTime: 0 };
}

export function changeTimeline(filter: Filter, change: (shown: Activity) => Activity): void {
  queryClient.setQueryData<Activity | null>(timelineQuery(filter).queryKey, (shown) =>
    shown ? change(shown) : shown,
  );
}
