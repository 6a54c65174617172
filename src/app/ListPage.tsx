// The shape of every page that lists one kind of thing of one place: title, place, what makes a new one, the
// table, what an empty list teaches, and the pager.
import type { ReactNode } from "react";
import type { Page } from "../../contract/paging.ts";
import { paths } from "../paths.ts";
import { EmptyState } from "../ui/EmptyState.tsx";
import { Icon } from "../ui/Icon.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { Panel } from "../ui/Panel.tsx";
import { Crumbs } from "./Crumbs.tsx";
import { LinkButton } from "./LinkButton.tsx";
import { PageLinks } from "./PageLinks.tsx";

type ListPageProps = {
  /** What is listed, e.g. "Workers". */
  title: string;
  /** The server or site it is all of. */
  place: { name: string; to: string };
  tabs?: ReactNode;
  /** The way to a new one. */
  create: { label: string; to: string };
  list: Page<unknown>;
  /** The number of the page that was asked for, which may lie behind the end. */
  page: number;
  pathOf: (page: number) => string;
  /** For a list with nothing in it: what such a thing is good for. */
  empty: { title: string; text: string };
  /** The table. */
  children: ReactNode;
};

export function ListPage({
  title,
  place,
  tabs,
  create,
  list: { data, meta },
  page,
  pathOf,
  empty,
  children,
}: ListPageProps) {
  const createLink = (
    <LinkButton to={create.to} variant="primary" command={create.label}>
      <Icon name="plus" />
      {create.label}
    </LinkButton>
  );
  return (
    <>
      <PageHeader
        title={title}
        context={[place.name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: place.name, to: place.to },
            ]}
          />
        }
        actions={createLink}
      />
      {tabs}
      <Panel>
        {data.length > 0 ? (
          children
        ) : page === 1 ? (
          <EmptyState title={empty.title} action={createLink}>
            {empty.text}
          </EmptyState>
        ) : (
          <EmptyState
            title={`Nothing on page ${page}`}
            action={<LinkButton to={pathOf(1)}>First page</LinkButton>}
          />
        )}
        <PageLinks meta={meta} pathOf={pathOf} />
      </Panel>
    </>
  );
}
