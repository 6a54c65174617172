// The shape of every page that lists one kind of thing of one place: title, place, what makes a new one, the
// table, what an empty list teaches, the pager, and what can be done with the rows that are selected.
import {
  type ComponentType,
  type ReactNode,
  Suspense,
  useLayoutEffect,
  useState,
  useSyncExternalStore,
} from "react";
import type { Page } from "../../contract/paging.ts";
import type { ArtName } from "../ui/EmptyArt.tsx";
import { EmptyState } from "../ui/EmptyState.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Panel } from "../ui/Panel.tsx";
import type { ListView } from "../api/list-query.ts";
import type { DataQuery } from "../api/query.ts";
import type { BulkProps } from "../bulk/BulkBar.tsx";
import { LinkButton } from "./LinkButton.tsx";
import { ListBar } from "./list/ListBar.tsx";
import { NoRows } from "./list/NoRows.tsx";
import type { TypedSearch } from "./list/typed-search.ts";
import { PageLinks } from "./PageLinks.tsx";
import { type Place, PlaceHeader } from "./PlaceHeader.tsx";
import { SelectionContext } from "./selection/SelectColumn.tsx";
import { createSelection } from "./selection/selection.ts";

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
      {/* Without a height: what comes and goes below the list, or over its end, moves nothing. */}
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
  /** What is listed, e.g. "Workers". */
  title: string;
  place: Place;
  tabs?: ReactNode;
  /** Below the list, where what comes late moves nothing. */
  notice?: ReactNode;
  /** The way to a new one. */
  create: { label: string; to: string };
  list: Page<Item>;
  /** What is shown: a page, which may lie behind the end, of what was filtered. */
  typing: TypedSearch;
  pathOf: (view: ListView) => string;
  queryOf: (view: ListView) => DataQuery<Page<Item>>;
  /** For a list with nothing in it: what such a thing is good for. */
  empty: { title: string; text: string; art: ArtName };
  /** What can be done with many of them at once; loaded when some are selected. */
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
