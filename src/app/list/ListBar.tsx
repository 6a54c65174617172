import { Suspense } from "react";
import { idle } from "../idle.ts";
import { optionalPart } from "../optional-part.ts";
import type { ListView } from "../../api/list-query.ts";
import type { ListControlsProps } from "./ListControls.tsx";

// The rows are read first.
const ListControls = optionalPart<ListControlsProps>(async () => {
  await idle();
  return (await import("./ListControls.tsx")).ListControls;
});

/** Whether rows were chosen, so that an empty list is not one without things. */
export const isFiltered = ({ q, status }: ListView): boolean => Boolean(q || status);

/** The place of a list's controls, where the service can filter and there is something to be filtered. */
export function ListBar(props: ListControlsProps) {
  const { meta, typing } = props;
  if (!isFiltered(typing.view) && !meta.counts?.["all"]) return null;
  return (
    // As high as what comes, so that the rows stay where they are: one line, two or three, by the width alone.
    <div className="min-h-[49px] border-b border-line px-4 py-2 @max-4xl:min-h-[85px] @max-xl:min-h-[121px] max-sm:px-3">
      <Suspense>
        <ListControls {...props} />
      </Suspense>
    </div>
  );
}
