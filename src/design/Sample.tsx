import type { ReactNode } from "react";

/** A primitive under its name, with its states side by side. */
export function Sample({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section aria-label={name} className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2 className="text-xs font-medium text-muted">{name}</h2>
      <div className="flex flex-wrap items-start gap-3">{children}</div>
    </section>
  );
}
