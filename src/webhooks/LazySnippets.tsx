import { Suspense } from "react";
import { optionalPart } from "../app/routing/optional-part.ts";
import { Skeleton } from "../ui/feedback/Skeleton.tsx";

const Missing = () => <p className="text-muted">Couldn't load the examples.</p>;

// An error page would replace the page, and with it a secret that is shown once.
const VerifySnippets = optionalPart(
  async () => (await import("./VerifySnippets.tsx")).VerifySnippets,
  Missing,
);

/** Reserves the space of the code while it loads. */
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
