/** Placeholder of a text that is loading. Appears after a delay, so that a fast response does not flicker. */
export function Skeleton({ width = "w-24" }: { width?: "w-12" | "w-24" | "w-40" | "w-full" }) {
  return (
    <span
      aria-hidden
      className={`inline-block h-3 max-w-full animate-wait rounded-sm bg-line align-middle forced-colors:bg-[GrayText] ${width}`}
    />
  );
}

/** Placeholder of a page, with the sizes of its header and its first panel. */
export function PageSkeleton() {
  return (
    <>
      <h1 className="sr-only">Loading</h1>
      <div className="grid gap-1">
        <div className="flex h-5 items-center">
          <Skeleton width="w-24" />
        </div>
        <div className="flex h-8 items-center">
          <Skeleton width="w-40" />
        </div>
      </div>
      <div className="grid animate-wait gap-px overflow-clip rounded-lg border border-line bg-line">
        {["a", "b", "c", "d", "e"].map((row) => (
          <div key={row} className="flex h-11 items-center gap-6 bg-raised px-4">
            <Skeleton width="w-24" />
            <Skeleton width="w-40" />
          </div>
        ))}
      </div>
    </>
  );
}
