import type { ReactNode } from "react";

export type Property = { term: string; value: ReactNode };

export function Properties({ items }: { items: readonly Property[] }) {
  return (
    // The lines below the last row lie under the panel's own edge.
    <dl className="-mb-px grid gap-x-8 px-4 pt-1 max-sm:px-3 sm:grid-cols-2 xl:grid-cols-3">
      {items.map(({ term, value }) => (
        <div
          key={term}
          className="flex min-h-9 items-baseline justify-between gap-4 border-b border-line py-2 text-sm"
        >
          <dt className="shrink-0 text-muted">{term}</dt>
          <dd className="min-w-0 text-end wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
