// Opening a delivery changes the URL within a page. The shell treats a new URL as a new page and scrolls to its top,
// but a list that is worked through row by row must keep its position.
import { type RefObject, useLayoutEffect, useRef } from "react";

/** The id of a delivery's link in the list. */
export const rowLinkId = (deliveryId: number) => `delivery-${deliveryId}`;

const rowLink = (deliveryId: number | null) =>
  deliveryId === null ? null : document.getElementById(rowLinkId(deliveryId));

/** The position of the row that was clicked. Afterwards the list is narrower, and its rows may be higher. */
let pressed: { id: number; top: number } | null = null;

/** Called before the URL changes when a delivery is opened or closed. */
export function notePlace(id: number): void {
  const top = rowLink(id)?.getBoundingClientRect().top;
  pressed = top === undefined ? null : { id, top };
}

function restorePlace(scrollTop: number): void {
  scrollTo(0, scrollTop);
  const link = rowLink(pressed?.id ?? null);
  if (link !== null && pressed !== null)
    scrollBy(0, link.getBoundingClientRect().top - pressed.top);
  pressed = null;
}

/** Shows the details: next to the list they are visible already; below it, the page scrolls there. */
function moveTo(opened: HTMLDivElement): void {
  const { top } = opened.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) opened.scrollIntoView({ block: "start" });
  const heading = opened.querySelector("h2");
  if (heading === null) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/**
 * Keeps the scroll position of the list, and moves the focus to a delivery that opens, or back to its row when it
 * closes.
 * @returns the ref of the element with the details
 */
export function useOpenedDelivery(openId: number | null): RefObject<HTMLDivElement | null> {
  const opened = useRef<HTMLDivElement>(null);
  const before = useRef(openId);
  // An effect, because the element to focus exists only after the change.
  useLayoutEffect(() => {
    if (before.current === openId) return;
    const closed = before.current;
    before.current = openId;
    const scrollTop = scrollY;
    // The shell scrolls after this and before the next frame.
    requestAnimationFrame(() => {
      restorePlace(scrollTop);
      if (opened.current !== null) return moveTo(opened.current);
      // `focus` scrolls only if the row is not visible.
      rowLink(closed)?.focus();
    });
  }, [openId]);
  return opened;
}
