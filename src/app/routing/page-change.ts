// Does what a browser does when it loads a page, for client-side navigation: moves the focus to the start of the new
// page, and scrolls to its top or restores the position.
import { useEffect, useLayoutEffect, useRef } from "react";
import {
  type NavigateFunction,
  NavigationType,
  useLocation,
  useNavigationType,
} from "react-router";

/** Scroll positions by key and path of the history's entries. The router's own implementation is 1 kB larger. */
export const leftAt = new Map<string, number>();

/** Returns the index of the current history entry among those of the router in this tab. */
export function entryIndex(): number {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "idx" in state ? Number(state.idx) : 0;
}

/** Paths of the history's entries by index, as far as this load has visited them. */
const visited: string[] = [];

/**
 * Leaves the page of an object that is being deleted: goes back to an earlier entry of `path`, with its filter, or else
 * replaces the page. Back then never leads to "Not found".
 */
export function leaveFor(navigate: NavigateFunction, path: string): void {
  const index = entryIndex();
  const before = visited.slice(0, index).lastIndexOf(path);
  if (before >= 0) void navigate(before - index);
  else void navigate(path, { replace: true });
}

/**
 * Leaves a form for the page of what it saved: goes back to it where the form was opened on it, or else replaces the
 * form. So the history has the page once.
 */
export function leaveSaved(navigate: NavigateFunction, path: string, state: object): void {
  if (visited[entryIndex() - 1] === path) void navigate(-1);
  else void navigate(path, { state, replace: true });
}

const focusHeading = () =>
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });

/** Whether there was a navigation since the load. */
let hasChanged = false;

/** Focuses the heading of a page whose content was replaced late, if the replaced content had the focus. */
export function focusLateHeading(): void {
  if (hasChanged && document.activeElement === document.body) focusHeading();
}

export function usePageChange(): void {
  const { key, pathname } = useLocation();
  const isBack = useNavigationType() === NavigationType.Pop;
  // Entries that come from a load, such as a typed address, all share a key.
  const entry = `${key} ${pathname}`;

  useLayoutEffect(() => {
    visited[entryIndex()] = pathname;
    scrollTo(0, (isBack ? leftAt.get(entry) : undefined) ?? 0);
    const note = () => leftAt.set(entry, scrollY);
    addEventListener("scroll", note, { passive: true });
    return () => removeEventListener("scroll", note);
  }, [entry, isBack, pathname]);

  const before = useRef(pathname);
  useEffect(() => {
    // The next page of a list leaves the focus on the pager.
    if (before.current === pathname) return;
    before.current = pathname;
    hasChanged = true;
    focusHeading();
  }, [pathname]);
}
