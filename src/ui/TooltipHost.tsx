import { attachTooltips } from "./tooltips.ts";

const attach = (host: HTMLDivElement) => attachTooltips(host);

/** Rendered once; see `attachTooltips`. */
export function TooltipHost() {
  return (
    <div
      ref={attach}
      popover="manual"
      aria-hidden
      className="inset-auto m-0 max-w-72 rounded-md border border-line bg-raised px-2 py-1 text-xs whitespace-pre-line text-ink shadow-pop"
    />
  );
}
