import type { ReactNode } from "react";

/** Fields of a form that belong together, under a heading of their own. */
export function FieldGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="rounded-lg border border-line bg-raised shadow-raised">
      {/* Floats, because a legend stands on the border otherwise. */}
      <legend className="float-left w-full border-b border-line px-5 py-3 font-semibold max-sm:px-4">
        {title}
      </legend>
      <div className="clear-both grid gap-x-6 gap-y-5 p-5 max-sm:p-4 sm:grid-cols-2">
        {children}
      </div>
    </fieldset>
  );
}
