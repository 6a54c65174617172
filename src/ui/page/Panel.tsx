import { type ReactNode, useId } from "react";
import { handFocusOn } from "../focus/hand-focus-on.ts";

type PanelProps = {
  title?: string;
  /** Next to the title. */
  actions?: ReactNode;
  children: ReactNode;
};

/** A framed part of a page. With a title it is a section that screen readers can jump to. */
export function Panel({ title, actions, children }: PanelProps) {
  const titleId = useId();
  if (title === undefined)
    return (
      <div className="@container overflow-clip rounded-lg border border-line bg-raised shadow-raised">
        {children}
      </div>
    );
  return (
    <section
      aria-labelledby={titleId}
      className="@container overflow-clip rounded-lg border border-line bg-raised shadow-raised"
    >
      <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5 max-sm:px-3">
        <h2 id={titleId} className="font-semibold">
          {title}
        </h2>
        <div ref={handFocusOn} className="ms-auto flex flex-wrap items-center gap-1.5">
          {actions}
        </div>
      </div>
      {children}
    </section>
  );
}
