// What a browser does by itself when it loads a page, for pages that come without a load: the focus goes to
// the new page's start, and the scroll position to its top, or back to where it was.
import { useEffect, useLayoutEffect, useRef } from "react";
import {
  type NavigateFunction,
  NavigationType,
  useLocation,
  useNavigationType,
} from "react-router";

/** Where each entry of the history was left, by its key and path. The router's own keeper of this is 1 kB larger. */
export const leftAt = new Map<string, number>();

/** The place of the entry at hand among those that the router has made in this tab. */
export function entryIndex(): number {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "idx" in state ? Number(state.idx) : 0;
}

/** The paths of the history's entries by their places, as far as this load has seen them. */
const visited: string[] = [];

/**
 * Leaves the page of what is being deleted: back to where a page was left, with its filter, or else to that page in its place.
 * So Back does not lead to "Not found".
 */
export function leaveFor(navigate: NavigateFunction, path: string): void {
  const index = entryIndex();
  const before = visited.slice(0, index).lastIndexOf(path);
  if (before >= 0) void navigate(before - index);
  else void navigate(path, { replace: true });
}

const focusHeading = () =>
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });

/** Whether somebody has been led to another page since the load. */
let hasChanged = false;

/** For what takes the place of a page after it has come: what had the focus, or was to have it, is gone. */
export function focusLateHeading(): void {
  if (hasChanged && document.activeElement === document.body) focusHeading();
}

export function usePageChange(): void {
  const { key, pathname } = useLocation();
  const isBack = useNavigationType() === NavigationType.Pop;
  // What comes by a load has the same key as any other such entry, as of an address that was typed.
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
    // Another page of the same list leaves the focus on the link that led there.
    if (before.current === pathname) return;
    before.current = pathname;
    hasChanged = true;
    focusHeading();
  }, [pathname]);
}
