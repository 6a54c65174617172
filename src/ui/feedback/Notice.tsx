import type { ReactNode } from "react";
import { toneSurface } from "./tone.ts";
import { handFocusOn } from "../focus/hand-focus-on.ts";
import { Icon } from "../Icon.tsx";

type NoticeProps = {
  tone: "good" | "busy" | "warn" | "bad";
  /** Whether screen readers announce it at once; otherwise it is part of the page. */
  isAlert?: boolean;
  children: ReactNode;
  actions?: ReactNode;
};

const icons = { good: "success", busy: "info", warn: "warning", bad: "alert" } as const;

export function Notice({ tone, isAlert = false, children, actions }: NoticeProps) {
  return (
    <div
      role={isAlert ? "alert" : undefined}
      className={`flex flex-wrap items-start gap-x-2.5 gap-y-2 rounded-lg border border-current/20 px-3.5 py-3 ${toneSurface[tone]}`}
    >
      <span className="mt-0.5">
        <Icon name={icons[tone]} />
      </span>
      {/* The buttons wrap below the text where both do not fit on a line. */}
      <div className="min-w-0 grow basis-48 wrap-anywhere text-ink">{children}</div>
      {Boolean(actions) && (
        // A button often closes its notice.
        <div ref={handFocusOn} className="-my-1 flex flex-wrap gap-1">
          {actions}
        </div>
      )}
    </div>
  );
}
