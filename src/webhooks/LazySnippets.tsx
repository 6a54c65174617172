import { Suspense } from "react";
import { optionalPart } from "../app/optional-part.ts";
import { Skeleton } from "../ui/Skeleton.tsx";

const Missing = () => <p className="text-muted">Couldn't load the examples.</p>;

// An error would take the page away, and with it a secret that is shown once.
const VerifySnippets = optionalPart(
  async () => (await import("./VerifySnippets.tsx")).VerifySnippets,
  Missing,
);

/** The code holds its place while it loads. */
export function LazySnippets() {
  return (
    <Suspense
      fallback={
        <div className="h-[28rem]">
          <Skeleton width="w-40" />
        </div>
      }
    >
      <VerifySnippets />
    </Suspense>
  );
}
