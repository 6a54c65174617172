// Opening a delivery is a step within the page, with an address of its own. The shell takes a new address for a
// new page and scrolls to its top; a list that is worked through row by row has to stay where it is.
import { type RefObject, useLayoutEffect, useRef } from "react";

/** The id of a delivery's link in the list. */
export const rowLinkId = (deliveryId: number) => `delivery-${deliveryId}`;

const rowLink = (deliveryId: number | null) =>
  deliveryId === null ? null : document.getElementById(rowLinkId(deliveryId));

/** Where a row stood on screen when it was pressed. Its list is narrower afterwards, and its rows may be higher. */
let pressed: { id: number; top: number } | null = null;

/** To be called by what opens or closes a delivery, before the address changes. */
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

/** Begins to read what has opened: beside the list it is in sight already, below it the page goes there. */
function moveTo(opened: HTMLDivElement): void {
  const { top } = opened.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) opened.scrollIntoView({ block: "start" });
  const heading = opened.querySelector("h2");
  if (heading === null) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/**
 * Keeps the place in the list and hands the focus on: to a delivery that opens, back to its row when it closes.
 * @returns the ref of the opened delivery's element
 */
export function useOpenedDelivery(openId: number | null): RefObject<HTMLDivElement | null> {
  const opened = useRef<HTMLDivElement>(null);
  const before = useRef(openId);
  // An effect, because only after the change is there something to focus.
  useLayoutEffect(() => {
    if (before.current === openId) return;
    const closed = before.current;
    before.current = openId;
    const scrollTop = scrollY;
    // The shell scrolls after this and before the next frame is painted.
    requestAnimationFrame(() => {
      restorePlace(scrollTop);
      if (opened.current !== null) return moveTo(opened.current);
      // By its own way of scrolling, which does nothing where the row is in sight.
      rowLink(closed)?.focus();
    });
  }, [openId]);
  return opened;
}
