// What the timeline's page asks the service; all of it may be null from one that keeps none.
import { addOperations } from "../api/client.ts";
import { lateOperations } from "../../contract/late-operations.ts";
import type { Activity } from "../../contract/activity.ts";
import { extraQuery, queryClient } from "../api/query.ts";
import { type Filter, toQuery } from "./filter.ts";

addOperations(lateOperations);

/** What is on screen. It is never asked for again by itself: what is being read stays where it is. */
export const timelineQuery = (filter: Filter) => ({
  ...extraQuery("listActivity", {}, toQuery(filter)),
  staleTime: Infinity,
});

/** What has come since. @param newest the id of the newest entry that is shown, 0 = there is none */
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
