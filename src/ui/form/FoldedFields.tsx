import { type ReactNode, useLayoutEffect, useRef } from "react";
import { Icon } from "../Icon.tsx";

type FoldedFieldsProps = {
  title: string;
  /** Summary of the fields' values, in one line. */
  summary: string;
  /** Whether one of the fields has an error, which must be visible. */
  hasError: boolean;
  children: ReactNode;
};

/** Rarely changed fields of a form: collapsed, with a summary of their values. */
export function FoldedFields({ title, summary, hasError, children }: FoldedFieldsProps) {
  const box = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (!hasError || box.current === null || box.current.open) return;
    box.current.open = true;
    // A hidden field could not take the focus, so the form did not move it.
    if (document.activeElement?.getAttribute("aria-invalid") !== "true")
      box.current.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [hasError]);
  return (
    <details
      ref={box}
      className="group -mb-2 border-t border-line pt-3"
      onToggle={({ currentTarget }) => {
        if (hasError) currentTarget.open = true;
      }}
    >
      <summary
        // Keeps the focus in the current field: its validation error on blur would move this from under the pointer.
        onMouseDown={(event) => event.preventDefault()}
        className="-mx-2 flex min-h-11 list-none flex-wrap items-center gap-x-2.5 rounded-md px-2 py-1.5 hover:bg-hover"
      >
        <span className="text-muted group-open:rotate-180">
          <Icon name="down" />
        </span>
        <span className="font-semibold">{title}</span>
        <span className="min-w-0 text-sm wrap-anywhere text-muted group-open:hidden">
          {summary}
        </span>
      </summary>
      <div className="grid gap-x-6 gap-y-5 pt-3 pb-2 sm:grid-cols-2">{children}</div>
    </details>
  );
}
