// The files in a site's backup, folder by folder.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import type { Backup } from "../../../contract/backups/backup.ts";
import type { ArchiveFiles } from "../../../contract/backups/contents.ts";
import { partPath } from "../../../contract/backups/part-names.ts";
import { countText } from "../../../contract/count-text.ts";
import { Link } from "../../app/Link.tsx";
import { PageLinks } from "../../app/PageLinks.tsx";
import { useTypedText } from "../../app/form/typed-text.ts";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { type Column, Table } from "../../ui/table/Table.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { createIdentity, identityBody, noteRefusal } from "../IdentityFields.tsx";
import { formatBytes } from "../backup-facts.ts";
import { OpenForm } from "./OpenForm.tsx";
import { ReadError } from "./ReadError.tsx";
import { restoreColumn } from "./restore-column.tsx";
import { filesQuery, type FilesView } from "./queries.ts";

type File = ArchiveFiles["files"][number];

/** Poll interval while the archive is being read. */
const readingMs = 1500;

const nameCell = (id: number, { path, name, kind, target }: File) =>
  kind === "folder" ? (
    <Link
      to={paths.backupContents(id, { folder: path })}
      className="font-medium wrap-anywhere underline underline-offset-4"
    >
      {name}/
    </Link>
  ) : (
    <span className="wrap-anywhere">
      {name}
      {target !== null && <span className="text-muted"> → {target}</span>}
    </span>
  );

const columnsOf = (id: number): Column<File>[] => [
  { id: "name", header: "Name", isRest: true, cell: (file) => nameCell(id, file) },
  {
    id: "modified",
    header: "Modified",
    from: "sm",
    cell: ({ modified_at: at }) => (at === null ? "" : <Time value={at} />),
  },
  { id: "size", header: "Size", align: "end", cell: ({ bytes }) => formatBytes(bytes) },
];

/** Links to the parent folders of the current one. */
function Place({ id, folder }: { id: number; folder: string }) {
  const parts = folder === "" ? [] : folder.split("/");
  return (
    <nav aria-label="Folder" className="flex flex-wrap items-center gap-1 text-sm wrap-anywhere">
      <Link to={paths.backupContents(id)} className="underline underline-offset-4">
        Site folder
      </Link>
      {parts.map((part, index) => {
        const path = parts.slice(0, index + 1).join("/");
        return (
          <span key={path} className="flex items-center gap-1">
            <span aria-hidden>/</span>
            <Link
              to={paths.backupContents(id, { folder: path })}
              className="underline underline-offset-4"
            >
              {part}
            </Link>
          </span>
        );
      })}
    </nav>
  );
}

/** Replaces invalid UTF-8 in names. */
const unknownCharacter = "\ufffd";

/** Returns why a path cannot be restored separately: it cannot be sent in a request. */
function whyNotAlone(path: string): string | undefined {
  const instead = "Restore a folder above it, or the whole backup.";
  if (path.includes(unknownCharacter)) return `Its path is not UTF-8. ${instead}`;
  if (partPath.safeParse(path).success) return undefined;
  return `Its path has control characters, or is too long. ${instead}`;
}

type FilesPanelProps = {
  backup: Backup;
  view: FilesView;
  /** Restores one file or folder; null = its site is unknown. */
  restore: ((path: string) => void) | null;
  /** Why it is impossible now. */
  refusal: string | undefined;
};

export function FilesPanel({ backup, view, restore, refusal }: FilesPanelProps) {
  const { id } = backup;
  const { folder, search, page } = view;
  const navigate = useNavigate();
  const [identity] = useState(createIdentity);
  const [isOpened, setIsOpened] = useState(backup.encrypted !== true);
  const [listing, setListing] = useState<string | null>(null);
  const columns = useMemo(
    () => [
      ...columnsOf(id),
      ...(restore === null
        ? []
        : [restoreColumn<File>(({ path }) => path, restore, refusal, whyNotAlone)]),
    ],
    [id, restore, refusal],
  );
  const query = filesQuery(id, view, () => ({
    ...(listing !== null && { listing }),
    // Sent again, in case the listing has expired.
    ...(backup.encrypted === true && identityBody(identity.get())),
  }));
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
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
    refetchInterval: ({ state }) => (state.data?.state === "reading" ? readingMs : false),
  });
  if (data !== undefined && data.listing !== listing) setListing(data.listing);

  const open = () => {
    if (isOpened) void refetch();
    setIsOpened(true);
  };
  const [typed, setTyped] = useTypedText(search);
  const find = (event: FormEvent) => {
    event.preventDefault();
    void navigate(paths.backupContents(id, { folder, q: typed.trim() }));
  };
  if (backup.encrypted === true && data === undefined)
    return <OpenForm identity={identity} onOpen={open} isOpening={isFetching} error={error} />;
  const total = data?.total ?? 0;
  const perPage = data?.per_page ?? 1;
  const before = (page - 1) * perPage;
  const shown = data?.files.length ?? 0;
  return (
    <div className="grid gap-4">
      <search>
        <form onSubmit={find} className="flex max-w-md items-end gap-2">
          <Field label="Find a file">
            {(aria) => (
              <Input
                {...aria}
                type="search"
                maxLength={255}
                value={typed}
                onChange={({ target }) => setTyped(target.value)}
              />
            )}
          </Field>
          <Button type="submit" isChange={false}>
            Find
          </Button>
        </form>
      </search>
      <Place id={id} folder={folder} />
      {error !== null && (
        <ReadError error={error} isReading={isFetching} onRetry={() => void refetch()} />
      )}
      <div aria-live="polite" className="contents">
        {(data === undefined || data.state === "reading") && error === null && (
          <p className="text-sm text-muted">
            Reading the archive… {countText(data?.entries ?? 0)} entries so far
          </p>
        )}
        {data?.is_complete === false && (
          <Notice tone="warn">
            <p>
              The archive holds more than {countText(data.entries)} entries. The rest isn't listed.
            </p>
          </Notice>
        )}
      </div>
      {data !== undefined && (
        <Panel>
          <Table label="Files" columns={columns} rows={data.files} keyOf={({ path }) => path} />
          {/* Placeholder data of the previous folder says nothing about this one. */}
          {total === 0 && data.state === "ready" && !isPlaceholderData && (
            <p className="px-4 py-3 text-sm wrap-anywhere text-muted">
              {data.has_folder === false ? (
                <>
                  This backup has no folder “{folder}”.{" "}
                  <Link to={paths.backupContents(id)} className="underline underline-offset-4">
                    Show the site folder
                  </Link>
                </>
              ) : search === "" ? (
                "This folder is empty."
              ) : (
                `No results for “${search}”`
              )}
            </p>
          )}
          <PageLinks
            meta={{
              current_page: page,
              last_page: Math.ceil(total / perPage),
              from: shown === 0 ? null : before + 1,
              to: shown === 0 ? null : before + shown,
              total,
            }}
            pathOf={(to) => paths.backupContents(id, { folder, q: search, page: to })}
          />
        </Panel>
      )}
    </div>
  );
}
