// Restores cached responses before the first page shows, so that it opens at once while they are refetched. They are
// stored for the tab's session by `keepCache`.
import { queryClient } from "../../api/query.ts";
import { attempt, cacheKey, type Session, browserStorage } from "../../api/kept-session.ts";
import { sessionMark } from "../../api/session-mark.ts";
import { leftAt } from "./page-change.ts";

/** Age from which a response is marked as old while it is being refetched. */
export const oldMs = 30_000;

export type KeptCache = {
  mark: string;
  responses: readonly (readonly [queryKey: readonly unknown[], data: unknown, updatedMs: number])[];
  /** Scroll positions of the entries of the history. */
  leftAt: readonly (readonly [key: string, top: number])[];
};

/** Nothing of another token is shown, and another build may parse its responses differently. */
export const markOf = (session: Session): string => `${sessionMark(session)} ${import.meta.url}`;

export function restoreCache(session: Session | null): void {
  if (session === null) return;
  attempt(() => {
    // Written by `keepCache` of the same build, as the mark shows, or null.
    const kept = JSON.parse(
      browserStorage("sessionStorage")?.getItem(cacheKey) ?? "null",
    ) as KeptCache | null;
    if (kept?.mark !== markOf(session)) return;
    for (const [queryKey, data, updatedAt] of kept.responses)
      queryClient.setQueryData(queryKey, data, { updatedAt });
    // Data of any age is refetched after a load of the tab.
    void queryClient.invalidateQueries({ refetchType: "none" });
    for (const [key, top] of kept.leftAt) leftAt.set(key, top);
    // Until `ServiceState` is loaded and decides.
    const isOld = kept.responses.some(([, , updatedMs]) => updatedMs < Date.now() - oldMs);
    document.documentElement.toggleAttribute("data-last-known", isOld);
  });
}
