// The layout of every page that lists objects of one kind: header, create button, table, empty state, pager, and bulk
// actions for the selected rows.
import {
  type ComponentType,
  type ReactNode,
  Suspense,
  useLayoutEffect,
  useState,
  useSyncExternalStore,
} from "react";
import type { Page } from "../../../contract/paging.ts";
import type { ArtName } from "../../ui/feedback/EmptyArt.tsx";
import { EmptyState } from "../../ui/feedback/EmptyState.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import type { ListView } from "../../api/list-query.ts";
import type { DataQuery } from "../../api/query.ts";
import type { BulkProps } from "../../bulk/BulkBar.tsx";
import { LinkButton } from "../LinkButton.tsx";
import { ListBar } from "./ListBar.tsx";
import { NoRows } from "./NoRows.tsx";
import type { TypedSearch } from "./typed-search.ts";
import { PageLinks } from "../PageLinks.tsx";
import { type Place, PlaceHeader } from "../place/PlaceHeader.tsx";
import { SelectionContext } from "../selection/SelectColumn.tsx";
import { createSelection } from "../selection/selection.ts";

function SelectionBar<Item extends { id: number }>({
  selection,
  items,
  listed,
  Bulk,
}: BulkProps<Item> & { Bulk: ComponentType<BulkProps<Item>> }) {
  const selected = useSyncExternalStore(selection.subscribe, selection.get);
  return (
    <>
      <output className="sr-only">{selected.size > 0 && `${selected.size} selected`}</output>
      {/* Without a height, so that appearing below or over the list moves nothing. */}
      {selected.size > 0 && (
        <div data-selection-bar className="sticky bottom-16 z-10 h-0">
          <Suspense>
            <Bulk
              items={items.filter(({ id }) => selected.has(id))}
              selection={selection}
              listed={listed}
            />
          </Suspense>
        </div>
      )}
    </>
  );
}

type ListPageProps<Item> = {
  /** Name of the listed objects, e.g. "Workers". */
  title: string;
  place: Place;
  tabs?: ReactNode;
  /** Below the list, where late content moves nothing. */
  notice?: ReactNode;
  /** The link that creates a new object. */
  create: { label: string; to: string };
  list: Page<Item>;
  /** The view that is shown. Its page may be beyond the end of the filtered list. */
  typing: TypedSearch;
  pathOf: (view: ListView) => string;
  queryOf: (view: ListView) => DataQuery<Page<Item>>;
  /** For an empty list: what the objects are for. */
  empty: { title: string; text: string; art: ArtName };
  /** Bulk actions; loaded when rows are selected. */
  bulk: ComponentType<BulkProps<Item>>;
  /** The table, which begins with a `selectColumn`. */
  children: ReactNode;
};

export function ListPage<Item extends { id: number }>({
  title,
  place,
  tabs,
  notice,
  create,
  list: { data, meta },
  typing,
  pathOf,
  queryOf,
  empty,
  bulk,
  children,
}: ListPageProps<Item>) {
  const { view } = typing;
  const [selection] = useState(createSelection);
  useLayoutEffect(() => selection.show(data.map(({ id }) => id)), [selection, data]);
  const createLink = (
    <LinkButton to={create.to} variant="primary" command={{ label: create.label, key: "n" }}>
      <Icon name="plus" />
      {create.label}
    </LinkButton>
  );
  return (
    <>
      <PlaceHeader title={title} place={place} actions={createLink} />
      {tabs}
      <div>
        <Panel>
          <ListBar title={title} meta={meta} typing={typing} pathOf={pathOf} />
          {data.length > 0 ? (
            <SelectionContext value={selection}>{children}</SelectionContext>
          ) : (
            <NoRows view={view} pathOf={pathOf}>
              <EmptyState title={empty.title} art={empty.art} action={createLink}>
                {empty.text}
              </EmptyState>
            </NoRows>
          )}
          <PageLinks meta={meta} pathOf={(page) => pathOf({ ...view, page })} />
        </Panel>
        <SelectionBar
          selection={selection}
          items={data}
          listed={{ meta, view, pathOf, queryOf }}
          Bulk={bulk}
        />
      </div>
      {notice}
    </>
  );
}
