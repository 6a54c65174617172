// Imports a file as a backup: from this computer, or from a storage.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useLoaderData, useNavigate } from "react-router";
import type { Backup } from "../../../contract/backups/backup.ts";
import { maxImportBytes } from "../../../contract/backups/import.ts";
import { ApiError } from "../../api/api-error.ts";
import { invalidate } from "../../api/query.ts";
import { Crumbs } from "../../app/place/Crumbs.tsx";
import { ErrorText } from "../../app/ErrorText.tsx";
import { everyServerQuery, everySiteQuery } from "../../app/inventory.ts";
import { LeaveGuard, savedState } from "../../app/form/LeaveGuard.tsx";
import { LinkButton } from "../../app/LinkButton.tsx";
import { toast } from "../../app/toasts.ts";
import { paths } from "../../paths.ts";
import { bringIntoView } from "../../ui/focus/bring-into-view.ts";
import { Button } from "../../ui/button/Button.tsx";
import { ChoiceList } from "../../ui/form/ChoiceList.tsx";
import { DocsLink } from "../../ui/text/DocsLink.tsx";
import { Field } from "../../ui/form/Field.tsx";
import { focusInvalid } from "../../ui/focus/focus-invalid.ts";
import { handFocusOn } from "../../ui/focus/hand-focus-on.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Select } from "../../ui/form/Select.tsx";
import { formatBytes } from "../backup-facts.ts";
import { everyDatabaseQuery, storageProvidersQuery } from "../queries.ts";
import type { importLoader } from "./loader.ts";
import { importStored, type ImportTarget } from "./queries.ts";
import { StoredFiles } from "./StoredFiles.tsx";
import { takeDrops } from "./take-drops.ts";
import { uploadFile } from "./upload.ts";
import { type Uploading, uploadingAt, UploadProgress } from "./UploadProgress.tsx";

const origins = [
  { value: "upload", label: "Upload a file" },
  { value: "stored", label: "Choose from the storage" },
] as const;

const keyOf = ({ type, id }: Pick<ImportTarget, "type" | "id">) => `${type}-${id}`;

function useTargets(serverId: number | null): ImportTarget[] {
  const isKnown = { enabled: serverId !== null };
  const { data: databases } = useQuery({ ...everyDatabaseQuery(serverId ?? 0), ...isKnown });
  const { data: sites } = useQuery({ ...everySiteQuery(serverId ?? 0), ...isKnown });
  return [
    // Backups of a whole server cannot be imported.
    ...(databases?.data ?? [])
      .filter(({ scope }) => scope !== "server")
      .map(({ id, name }) => ({ type: "database", id, name }) as const),
    ...(sites?.data ?? []).map(({ id, name }) => ({ type: "site", id, name }) as const),
  ];
}

export function ImportPage() {
  const opened = useLoaderData<typeof importLoader>();
  const navigate = useNavigate();
  const { data: servers } = useQuery(everyServerQuery());
  const { data: providers } = useQuery(storageProvidersQuery());
  const [serverId, setServerId] = useState(opened.serverId);
  const [targetKey, setTargetKey] = useState(opened.target ?? "");
  const [storageId, setStorageId] = useState(opened.storageId ?? providers?.data[0]?.id ?? 0);
  const [origin, setOrigin] = useState<(typeof origins)[number]["value"]>(
    opened.storageId === null ? "upload" : "stored",
  );
  const [file, setFile] = useState<File | null>(null);
  const [path, setPath] = useState<string | null>(null);
  const [isAsked, setIsAsked] = useState(false);
  const [isPending, setIsPending] = useState(false);
  const [uploading, setUploading] = useState<Uploading | null>(null);
  const [error, setError] = useState<unknown>(null);
  const sending = useRef<AbortController | null>(null);
  // Leaving the page aborts the upload.
  useEffect(() => () => sending.current?.abort(), []);

  const targets = useTargets(serverId);
  const target = targets.find((one) => keyOf(one) === targetKey) ?? null;
  const isUpload = origin === "upload";
  const fields = error instanceof ApiError ? error.fields : {};
  const missingFile = isAsked && file === null ? "Choose a file on this computer." : undefined;

  async function begin(of: ImportTarget): Promise<Backup | null> {
    if (!isUpload) return path === null ? null : importStored(of, storageId, path);
    if (file === null) return null;
    const controller = new AbortController();
    sending.current = controller;
    setUploading(uploadingAt(null, file, 0));
    return uploadFile(of, file, {
      storageId,
      signal: controller.signal,
      onProgress: (sent) => setUploading((before) => uploadingAt(before, file, sent)),
    });
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    // Rendered synchronously, so that a missing field is marked before it gets the focus.
    flushSync(() => setIsAsked(true));
    if (target === null || (isUpload ? file === null : path === null)) return focusInvalid(event);
    if (isPending) return;
    setIsPending(true);
    setError(null);
    try {
      const begun = await begin(target);
      if (begun === null) return;
      toast.success(`Importing into “${target.name} (imported)”.`);
      await invalidate("listBackupConfigurations", "showOverview", "listActivity");
      void navigate(paths.backup(begun.id), { state: savedState, replace: true });
    } catch (thrown) {
      if (sending.current?.signal.aborted !== true) setError(thrown);
    } finally {
      setIsPending(false);
      setUploading(null);
      sending.current = null;
    }
  }

  return (
    <>
      <PageHeader
        title="Import a file"
        crumbs={
          <Crumbs
            items={[
              { label: "Overview", to: paths.home() },
              ...(serverId === null ? [] : [{ label: "Backups", to: paths.backups(serverId) }]),
            ]}
          />
        }
      />
      <p className="max-w-prose text-muted">
        Creates a backup from a dump, a SQLite database or an archive that Quarterdeck did not make.
        You can then restore it. A dump is a program: import only a file that you trust.{" "}
        <DocsLink page="backups">About imports</DocsLink>
      </p>
      <LeaveGuard
        isDirty={uploading !== null}
        question="Leave during the upload?"
        loss="The upload is canceled, and nothing of it is kept."
        stay="Keep uploading"
        leave="Cancel upload"
      />
      <form
        noValidate
        aria-label="Import a file"
        onSubmit={(event) => void submit(event)}
        className="grid max-w-2xl gap-6"
      >
        <div className="grid gap-6 rounded-lg border border-line bg-raised p-5 shadow-raised max-sm:p-4">
          {(servers?.data.length ?? 0) > 1 && (
            <Field label="Server">
              {(aria) => (
                <Select
                  {...aria}
                  value={serverId ?? ""}
                  onChange={({ target: { value } }) => {
                    setServerId(Number(value));
                    setTargetKey("");
                  }}
                >
                  {servers?.data.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          )}
          <Field
            label="Database or site"
            error={isAsked && target === null ? "Choose what the file is a backup of." : undefined}
            help="A dump of PostgreSQL, MySQL or MariaDB, a SQLite file, or a tar archive of the site's folder. Plain, or compressed with gzip, zstd, xz or bzip2."
          >
            {(aria) => (
              <Select
                {...aria}
                value={target === null ? "" : targetKey}
                onChange={({ target: { value } }) => setTargetKey(value)}
              >
                <option value="" disabled>
                  {targets.length === 0 ? "None on this server" : "Choose a database or site"}
                </option>
                {targets.map((one) => (
                  <option key={keyOf(one)} value={keyOf(one)}>
                    {one.name} ({one.type})
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field
            label="Storage"
            error={fields["storage_provider_id"]?.[0]}
            help={`The backup is stored here. Unpacked, the file must fit into the storage's free space, or be smaller than ${formatBytes(maxImportBytes)} where that isn't known.`}
          >
            {(aria) => (
              <Select
                {...aria}
                value={storageId}
                onChange={({ target: { value } }) => {
                  setStorageId(Number(value));
                  setPath(null);
                }}
              >
                {providers?.data.map(({ id, name, place }) => (
                  <option key={id} value={id}>
                    {name} ({place})
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <ChoiceList legend="File" options={origins} value={origin} onChange={setOrigin} />
          {/* Always rendered, so that files can be dropped. */}
          <div hidden={!isUpload}>
            <Field
              label="File to upload"
              error={isUpload ? (fields["file"]?.[0] ?? missingFile) : undefined}
            >
              {(aria) => (
                <input
                  {...aria}
                  ref={takeDrops}
                  type="file"
                  className="block w-full min-w-0 text-sm file:me-3 file:h-8 file:rounded-md file:border file:border-edge file:bg-raised file:px-3 file:text-ink"
                  onChange={({ target: { files } }) => {
                    setFile(files?.[0] ?? null);
                    setOrigin("upload");
                  }}
                />
              )}
            </Field>
          </div>
          {!isUpload && (
            <StoredFiles
              key={storageId}
              storageId={storageId}
              path={path}
              error={
                fields["path"]?.[0] ??
                (isAsked && path === null ? "Choose a file in the storage." : undefined)
              }
              onChoose={setPath}
            />
          )}
          {uploading !== null && <UploadProgress {...uploading} />}
        </div>
        {error !== null && (
          <div ref={bringIntoView} className="scroll-my-24">
            <Notice tone="bad" isAlert>
              <ErrorText error={error} />
            </Notice>
          </div>
        )}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" variant="primary" isChange isPending={isPending}>
            {uploading === null ? "Import" : "Uploading…"}
          </Button>
          {uploading === null ? (
            <LinkButton to={serverId === null ? paths.home() : paths.backups(serverId)} isBack>
              Cancel
            </LinkButton>
          ) : (
            <span ref={handFocusOn} className="contents">
              <Button onClick={() => sending.current?.abort()}>Cancel upload</Button>
            </span>
          )}
        </div>
      </form>
    </>
  );
}
