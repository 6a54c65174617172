import type { ReactNode } from "react";
import type { ListView } from "../../api/list-query.ts";
import { EmptyState } from "../../ui/feedback/EmptyState.tsx";
import { LinkButton } from "../LinkButton.tsx";
import { isFiltered } from "./ListBar.tsx";

type NoRowsProps = {
  view: ListView;
  pathOf: (view: ListView) => string;
  /** Shown for an empty list. */
  children: ReactNode;
};

/** Replaces the rows: why there are none, and how to get some. */
export function NoRows({ view, pathOf, children }: NoRowsProps) {
  const { page = 1, q } = view;
  if (page > 1)
    return (
      <EmptyState
        title={`Page ${page} is empty`}
        action={<LinkButton to={pathOf({ ...view, page: 1 })}>First page</LinkButton>}
      />
    );
  if (!isFiltered(view)) return children;
  return (
    <EmptyState
      title={`No results${q ? ` for “${q}”` : ""}`}
      action={<LinkButton to={pathOf({ ...view, q: "", status: "" })}>Clear filter</LinkButton>}
    />
  );
}
