// The objects in a PostgreSQL backup other than tables, by kind: views, functions, sequences and others.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { Backup } from "../../../contract/backups/backup.ts";
import type { ArchiveObjects } from "../../../contract/backups/contents.ts";
import { countText } from "../../../contract/count-text.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { Pager } from "../../ui/table/Pager.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { Select } from "../../ui/form/Select.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { createIdentity, identityBody, noteRefusal } from "../IdentityFields.tsx";
import { OpenForm } from "./OpenForm.tsx";
import { ReadError } from "./ReadError.tsx";
import { objectsQuery, type ObjectsView } from "./queries.ts";

type Row = ArchiveObjects["objects"][number];

const columns: Column<Row>[] = [
  {
    id: "name",
    header: "Name",
    isRest: true,
    cell: ({ name }) => <span className="wrap-anywhere">{name}</span>,
  },
  {
    id: "kind",
    header: "Kind",
    cell: ({ kind }) => <span className="whitespace-nowrap">{kind}</span>,
  },
];

const first: ObjectsView = { kind: "", search: "", page: 1 };

export function ObjectsPanel({ backup }: { backup: Backup }) {
  const { id } = backup;
  const isEncrypted = backup.encrypted === true;
  const [identity] = useState(createIdentity);
  const [isOpened, setIsOpened] = useState(!isEncrypted);
  const [listing, setListing] = useState<string | null>(null);
  const [view, setView] = useState(first);
  const query = objectsQuery(id, useDeferredValue(view), () => ({
    ...(listing !== null && { listing }),
    // Sent again, in case the listing has expired.
    ...(isEncrypted && identityBody(identity.get())),
  }));
  const { data, error, isFetching, refetch } = useQuery({
    ...query,
    queryFn: () =>
      query.queryFn().catch((refused: unknown) => {
        noteRefusal(identity, refused);
        throw refused;
      }),
    enabled: isOpened,
    retry: false,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  if (data !== undefined && data.listing !== listing) setListing(data.listing);
  // The last list stays next to an error, and so does the search field that is being used.
  const [listed, setListed] = useState(data);
  if (data !== undefined && data !== listed) setListed(data);
  const open = () => {
    if (isOpened) void refetch();
    setIsOpened(true);
  };
  if (isEncrypted && listed === undefined)
    return (
      <Panel title="Other objects">
        <div className="p-4">
          <OpenForm identity={identity} onOpen={open} isOpening={isFetching} error={error} />
        </div>
      </Panel>
    );
  if (listed === undefined)
    return error === null ? (
      <p className="text-sm text-muted">Reading the table of contents…</p>
    ) : (
      <ReadError error={error} isReading={isFetching} onRetry={() => void refetch()} />
    );
  const { kinds, total, per_page: perPage, objects } = listed;
  const all = kinds.reduce((sum, { count }) => sum + count, 0);
  const from = total === 0 ? null : (view.page - 1) * perPage + 1;
  // At either end the button stays, disabled, so that the focus is not lost.
  const pageButton = (label: string, page: number, end: string | undefined) => (
    <Button
      size="sm"
      isChange={false}
      disabledReason={end}
      onClick={() => setView({ ...view, page })}
    >
      {label}
    </Button>
  );
  return (
    <div className="grid gap-4">
      <div className="grid max-w-2xl gap-4 sm:grid-cols-2">
        <Field label="Find an object">
          {(aria) => (
            <Input
              {...aria}
              type="search"
              value={view.search}
              onChange={({ target }) => setView({ ...view, search: target.value, page: 1 })}
            />
          )}
        </Field>
        <Field label="Kind">
          {(aria) => (
            <Select
              {...aria}
              value={view.kind}
              onChange={({ target }) => setView({ ...view, kind: target.value, page: 1 })}
            >
              <option value="">All ({countText(all)})</option>
              {kinds.map(({ kind, count }) => (
                <option key={kind} value={kind}>
                  {kind} ({countText(count)})
                </option>
              ))}
              {view.kind !== "" && !kinds.some(({ kind }) => kind === view.kind) && (
                <option value={view.kind}>{view.kind} (0)</option>
              )}
            </Select>
          )}
        </Field>
      </div>
      {error !== null && (
        <ReadError error={error} isReading={isFetching} onRetry={() => void refetch()} />
      )}
      {!listed.is_complete && (
        <Notice tone="warn">
          <p>The backup contains more objects than are listed here.</p>
        </Notice>
      )}
      <Panel title="Other objects">
        <Table
          label="Other objects"
          columns={columns}
          rows={objects}
          keyOf={({ kind, name }) => `${kind} ${name}`}
        />
        {objects.length === 0 && (
          <p className="px-4 py-3 text-sm wrap-anywhere text-muted">
            {view.search === ""
              ? "The backup contains only tables."
              : `No results for “${view.search.trim()}”`}
          </p>
        )}
        {total > perPage && (
          <Pager
            from={from}
            to={from === null ? null : Math.min(total, from + objects.length - 1)}
            total={total}
            previous={pageButton(
              "Previous",
              view.page - 1,
              view.page > 1 ? undefined : "This is the first page.",
            )}
            next={pageButton(
              "Next",
              view.page + 1,
              view.page * perPage < total ? undefined : "This is the last page.",
            )}
          />
        )}
      </Panel>
    </div>
  );
}
