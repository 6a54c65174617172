import type { ReactNode } from "react";

/** Related fields of a form under a heading. */
export function FieldGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="border-t border-line pt-5 first:border-t-0 first:pt-0">
      {/* Floats, because a legend is otherwise drawn on the border. */}
      <legend className="float-left w-full pb-4 font-semibold">{title}</legend>
      <div className="clear-both grid gap-x-6 gap-y-5 sm:grid-cols-2">{children}</div>
    </fieldset>
  );
}
