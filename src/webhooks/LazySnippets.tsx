import { lazy, Suspense } from "react";
import { Skeleton } from "../ui/Skeleton.tsx";

const Missing = () => <p className="text-muted">Couldn't load the examples.</p>;

const VerifySnippets = lazy(async () => {
  try {
    return { default: (await import("./VerifySnippets.tsx")).VerifySnippets };
  } catch {
    // An error here would take the page away, and with it a secret that is shown once.
    return { default: Missing };
  }
});

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
