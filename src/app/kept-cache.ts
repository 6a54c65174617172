// What was read before, put back before the first page of a load shows: it opens at once, and is renewed behind that. Kept
// for the tab's session; see `keepCache`, which writes it.
import { queryClient } from "../api/query.ts";
import { attempt, cacheKey, type Session, browserStorage } from "../api/kept-session.ts";
import { sessionMark } from "../api/session-mark.ts";
import { leftAt } from "./page-change.ts";

/** A response is marked as old from this age on, as long as a newer one is on its way. */
export const oldMs = 30_000;

export type KeptCache = {
  mark: string;
  responses: readonly (readonly [queryKey: readonly unknown[], data: unknown, updatedMs: number])[];
  /** Where the pages of the history were left. */
  leftAt: readonly (readonly [key: string, top: number])[];
};

/** Of another token nothing is shown, and another build may read its responses in another way. */
export const markOf = (session: Session): string => `${sessionMark(session)} ${import.meta.url}`;

export function restoreCache(session: Session | null): void {
  if (session === null) return;
  attempt(() => {
    // Written by `keepCache` of the same build, as the mark says, or null.
    const kept = JSON.parse(
      browserStorage("sessionStorage")?.getItem(cacheKey) ?? "null",
    ) as KeptCache | null;
    if (kept?.mark !== markOf(session)) return;
    for (const [queryKey, data, updatedAt] of kept.responses)
      queryClient.setQueryData(queryKey, data, { updatedAt });
    // However young: a load of the tab asks anew.
    void queryClient.invalidateQueries({ refetchType: "none" });
    for (const [key, top] of kept.leftAt) leftAt.set(key, top);
    // Until `ServiceState` has come to judge.
    const isOld = kept.responses.some(([, , updatedMs]) => updatedMs < Date.now() - oldMs);
    document.documentElement.toggleAttribute("data-last-known", isOld);
  });
}
