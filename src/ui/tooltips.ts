// One tooltip for all elements with `data-tip`, `data-since` (a moment), `data-reason` (why it cannot be used now) or a
// key of their own, and for every `<time>`: no cost per row, and no row clips it, because it is in the top layer. It
// repeats what the element's name, description or attributes already say; only where it says more (`data-has-help`), the
// element is described by it while it shows.
// Hover, focus, Escape: WCAG 2.2, 1.4.13.

import { keyClass } from "./text/key-class.ts";
import { absoluteText } from "./time/time-text.ts";

const showAfterMs = 350;
const hideAfterMs = 120;
const gapPx = 6;
const marginPx = 8;

const carrier = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element
    ? target.closest<HTMLElement>(
        "[data-tip], [data-since], [data-reason], [aria-keyshortcuts], time",
      )
    : null;

/** Times are formatted here, not in each row: a page has dozens of them, and few are looked at. */
function textOf(anchor: HTMLElement): string | undefined {
  const { reason, tip, since } = anchor.dataset;
  if (reason !== undefined) return reason;
  if (since !== undefined)
    return `${tip === undefined ? "" : `${tip}\n`}Since ${absoluteText(new Date(since))}`;
  return tip ?? (anchor instanceof HTMLTimeElement ? absoluteText(new Date(anchor.dateTime)) : tip);
}

/** Returns the text of an element's tooltip, and its key; both may be missing. */
function contentOf(host: HTMLElement, anchor: HTMLElement) {
  const text = textOf(anchor);
  const key = anchor.getAttribute("aria-keyshortcuts") ?? "";
  // Keys with modifiers are shown by the page itself.
  const isTold = host.dataset["withKeys"] === "true" && !key.includes("+") && key !== "";
  if (!isTold || anchor.dataset["reason"] !== undefined) return text === undefined ? [] : [text];
  const hint = document.createElement("kbd");
  hint.className = keyClass;
  hint.textContent = key;
  return [text ?? "Press", " ", hint];
}

function place(host: HTMLElement, anchor: HTMLElement) {
  const rect = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = host;
  const left = rect.left + rect.width / 2 - width / 2;
  const above = rect.top - height - gapPx;
  host.style.left = `${Math.max(marginPx, Math.min(left, innerWidth - width - marginPx))}px`;
  host.style.top = `${above < marginPx ? rect.bottom + gapPx : above}px`;
}

/** A ref for the element that shows the tooltips, a manual popover. */
export function attachTooltips(host: HTMLElement): () => void {
  const listening = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shown: HTMLElement | null = null;

  const hide = () => {
    clearTimeout(timer);
    if (shown?.dataset["hasHelp"] !== undefined) shown.removeAttribute("aria-describedby");
    shown = null;
    if (host.matches(":popover-open")) host.hidePopover();
  };
  const showNow = (anchor: HTMLElement) => {
    const content = contentOf(host, anchor);
    if (content.length === 0 || !anchor.isConnected) return;
    // Opened again, so that it is above a dialog that was opened later.
    hide();
    host.replaceChildren(...content);
    host.showPopover();
    place(host, anchor);
    shown = anchor;
    if (anchor.dataset["hasHelp"] !== undefined) anchor.setAttribute("aria-describedby", host.id);
  };
  const show = (anchor: HTMLElement, afterMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => showNow(anchor), afterMs);
  };
  const hideSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, hideAfterMs);
  };

  const on = <Name extends keyof DocumentEventMap>(
    name: Name,
    listener: (event: DocumentEventMap[Name]) => void,
  ) => document.addEventListener(name, listener, { signal: listening.signal, capture: true });

  on("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const anchor = carrier(event.target);
    if (anchor !== null) show(anchor, showAfterMs);
    else if (event.target === host) clearTimeout(timer);
    else hideSoon();
  });
  on("focusin", (event) => {
    const anchor = carrier(event.target);
    // Shown before a screen reader announces the focus, because that reads the description. A tap counts, too.
    if (anchor?.dataset["hasHelp"] !== undefined) showNow(anchor);
    else if (anchor?.matches(":focus-visible") === true) show(anchor, 0);
  });
  on("focusout", hide);
  on("pointerdown", hide);
  on("scroll", () => {
    // Focusing an element outside of the window scrolls to it.
    if (shown !== null && shown === document.activeElement) place(host, shown);
    else hide();
  });
  on("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  return () => {
    listening.abort();
    clearTimeout(timer);
  };
}
