import { attachTooltips } from "./tooltips.ts";

const attach = (host: HTMLDivElement) => attachTooltips(host);

type TooltipHostProps = {
  /** Whether tooltips show the key of their control. */
  hasKeys: boolean;
};

/** Rendered once; see `attachTooltips`. */
export function TooltipHost({ hasKeys }: TooltipHostProps) {
  return (
    <div
      ref={attach}
      id="tooltip"
      role="tooltip"
      popover="manual"
      data-with-keys={hasKeys}
      className="inset-auto m-0 max-w-72 rounded-md border border-line bg-raised px-2 py-1 text-xs wrap-anywhere whitespace-pre-line text-ink shadow-pop"
    />
  );
}
