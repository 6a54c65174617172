import { type FunctionComponent, lazy, type ReactNode, Suspense } from "react";
import type { ArtName } from "./EmptyArt.tsx";
import { handFocusOn } from "../focus/hand-focus-on.ts";

// Where an illustration cannot be loaded, none is shown.
const EmptyArt = lazy(async (): Promise<{ default: FunctionComponent<{ name: ArtName }> }> => {
  try {
    return { default: (await import("./EmptyArt.tsx")).EmptyArt };
  } catch {
    return { default: () => null };
  }
});

type EmptyStateProps = {
  title: string;
  /** Illustration above the title. */
  art?: ArtName | undefined;
  children?: ReactNode;
  /** The first step. */
  action?: ReactNode;
};

export function EmptyState({ title, art, children, action }: EmptyStateProps) {
  return (
    <div className="grid justify-items-center gap-2 px-6 py-14 text-center wrap-anywhere">
      {art !== undefined && (
        <div className="mb-3 h-18">
          <Suspense>
            <EmptyArt name={art} />
          </Suspense>
        </div>
      )}
      <p className="text-lg font-semibold">{title}</p>
      {children !== undefined && <p className="max-w-prose text-balance text-muted">{children}</p>}
      {action !== undefined && (
        <div ref={handFocusOn} className="mt-3">
          {action}
        </div>
      )}
    </div>
  );
}
