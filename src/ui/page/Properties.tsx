import type { ReactNode } from "react";

export type Property = { term: string; value: ReactNode };

/** A list of terms and values: side by side on a phone, which halves the height, and otherwise one above the other. */
export function Properties({ items }: { items: readonly Property[] }) {
  return (
    <dl className="grid gap-x-8 px-4 max-sm:divide-y max-sm:divide-line max-sm:px-3 sm:grid-cols-2 sm:gap-y-4 sm:py-4 @2xl:grid-cols-3 @5xl:grid-cols-4">
      {items.map(({ term, value }) => (
        <div
          key={term}
          className="min-w-0 gap-4 text-sm max-sm:flex max-sm:min-h-10 max-sm:items-baseline max-sm:justify-between max-sm:py-2"
        >
          <dt className="shrink-0 text-muted sm:mb-0.5 sm:text-xs">{term}</dt>
          <dd className="min-w-0 wrap-anywhere max-sm:text-end">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
