import { Suspense } from "react";
import { idle } from "../idle.ts";
import { optionalPart } from "../routing/optional-part.ts";
import type { ListView } from "../../api/list-query.ts";
import type { ListControlsProps } from "./ListControls.tsx";

// Loaded when idle, after the rows.
const ListControls = optionalPart<ListControlsProps>(async () => {
  await idle();
  return (await import("./ListControls.tsx")).ListControls;
});

/** Whether the list is filtered, so that an empty result does not mean an empty list. */
export const isFiltered = ({ q, status }: ListView): boolean => Boolean(q || status);

/** Reserves the place of a list's controls, where the service can filter and there are rows. */
export function ListBar(props: ListControlsProps) {
  const { meta, typing } = props;
  if (!isFiltered(typing.view) && !meta.counts?.["all"]) return null;
  return (
    // As high as its content, so that the rows do not move: one to three lines, depending on the width alone.
    <div className="min-h-[49px] border-b border-line px-4 py-2 @max-4xl:min-h-[85px] @max-xl:min-h-[121px] max-sm:px-3">
      <Suspense>
        <ListControls {...props} />
      </Suspense>
    </div>
  );
}
