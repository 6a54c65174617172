import { type ReactNode, useLayoutEffect, useRef } from "react";
import { Icon } from "./Icon.tsx";

type FoldedFieldsProps = {
  title: string;
  /** What the fields are set to, in a line. */
  summary: string;
  /** One of the fields has an error, which must be in sight. */
  hasError: boolean;
  children: ReactNode;
};

/** Fields of a form that few change: folded, with a line that says what they are set to. */
export function FoldedFields({ title, summary, hasError, children }: FoldedFieldsProps) {
  const box = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (!hasError || box.current === null || box.current.open) return;
    box.current.open = true;
    // A folded field could not take the focus, so the form left it where it was.
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
        // The field at hand keeps the focus: an error that came as it lost it would push this away from under the pointer.
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
