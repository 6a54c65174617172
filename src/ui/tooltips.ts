// One tooltip for all elements with `data-tip`: no cost per row, and no row clips it, because it is in the
// top layer. It repeats what the element's name or description already says, so it is for eyes only.
// Hover, focus, Escape: WCAG 2.2, 1.4.13.

const showAfterMs = 350;
const hideAfterMs = 120;
const gapPx = 6;
const marginPx = 8;

const carrier = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>("[data-tip]") : null;

function place(host: HTMLElement, anchor: HTMLElement) {
  const rect = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = host;
  const left = rect.left + rect.width / 2 - width / 2;
  const above = rect.top - height - gapPx;
  host.style.left = `${Math.max(marginPx, Math.min(left, innerWidth - width - marginPx))}px`;
  host.style.top = `${above < marginPx ? rect.bottom + gapPx : above}px`;
}

/** A ref for the element that shows the tips; it is a manual popover. */
export function attachTooltips(host: HTMLElement): () => void {
  const listening = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const hide = () => {
    clearTimeout(timer);
    if (host.matches(":popover-open")) host.hidePopover();
  };
  const show = (anchor: HTMLElement, afterMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const tip = anchor.dataset["tip"];
      if (tip === undefined || !anchor.isConnected) return;
      host.textContent = tip;
      // Shown anew so that it comes above a dialog that was opened after it.
      hide();
      host.showPopover();
      place(host, anchor);
    }, afterMs);
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
    if (anchor?.matches(":focus-visible") === true) show(anchor, 0);
  });
  on("focusout", hide);
  on("pointerdown", hide);
  on("scroll", hide);
  on("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  return () => {
    listening.abort();
    clearTimeout(timer);
  };
}
