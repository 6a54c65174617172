// Adopts the backups in a storage that are not listed: a preview first, then the result.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData } from "react-router";
import { adoption, type Adoption } from "../../../contract/backups/adoption.ts";
import { countOf } from "../../../contract/count-text.ts";
import { call } from "../../api/client.ts";
import { invalidate } from "../../api/query.ts";
import { Crumbs } from "../../app/place/Crumbs.tsx";
import { ErrorText } from "../../app/ErrorText.tsx";
import { LinkButton } from "../../app/LinkButton.tsx";
import { toast } from "../../app/toasts.ts";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { DocsLink } from "../../ui/text/DocsLink.tsx";
import { EmptyState } from "../../ui/feedback/EmptyState.tsx";
import { focusHeading } from "../../ui/focus/focus-heading.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { Skeleton } from "../../ui/feedback/Skeleton.tsx";
import { LeftOut, MissingSources, SourceTable } from "./AdoptableSources.tsx";
import type { adoptLoader } from "./loaders.ts";

/** Reading a storage is slow: there are no retries, and leaving the page aborts it. */
const adoptionQuery = (id: number) => ({
  queryKey: ["showAdoption", { id }],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    adoption.parse(await call("showAdoption", { id }, { signal })),
  gcTime: 0,
  staleTime: Infinity,
  retry: false,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
});

export function AdoptPage() {
  const { id, name } = useLoaderData<typeof adoptLoader>();
  const preview = useQuery(adoptionQuery(id));
  const [isAdopting, setIsAdopting] = useState(false);
  const [result, setResult] = useState<Adoption | null>(null);
  const adopt = async () => {
    setIsAdopting(true);
    try {
      const adopted = adoption.parse(await call("adoptBackups", { id }));
      setResult(adopted);
      toast.success(`${countOf(adopted.adopted, "backup")} adopted.`);
      await invalidate("listBackupConfigurations", "showOverview", "listActivity");
    } catch (error) {
      toast.failure(`Couldn't adopt the backups from ${name}.`, error);
    }
    setIsAdopting(false);
  };
  const again = () => {
    setResult(null);
    void preview.refetch();
  };
  const isReading = preview.isFetching && result === null;
  const found = isReading ? undefined : (result ?? preview.data);
  const many = preview.data?.adoptable;
  return (
    <>
      <PageHeader
        title="Adopt backups"
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Settings", to: paths.settings() },
              { label: "Inventory", to: paths.inventory() },
            ]}
          />
        }
      />
      <p className="max-w-prose wrap-anywhere text-muted">
        Lists the backups in <strong className="text-ink">{name}</strong> that an earlier
        installation made, or that a deleted backup configuration left. You can then restore them.
        Adopt only from a storage that you trust, and only if no other installation uses it any
        more. <DocsLink page="backups">About adoption</DocsLink>
      </p>
      <output className="sr-only">
        {isReading && "Reading the storage…"}
        {isAdopting && "Adopting…"}
      </output>
      {isReading && <Reading />}
      {!isReading && preview.error !== null && result === null && (
        <Notice
          tone="bad"
          isAlert
          actions={
            <Button size="sm" onClick={again}>
              Try again
            </Button>
          }
        >
          <ErrorText error={preview.error} />
        </Notice>
      )}
      {found !== undefined && <Found found={found} isResult={result !== null} />}
      {found !== undefined && (
        <div className="flex flex-wrap gap-2">
          {result === null && many !== undefined && many > 0 && (
            <Button variant="primary" isChange isPending={isAdopting} onClick={() => void adopt()}>
              {isAdopting ? "Adopting…" : `Adopt ${countOf(many, "backup")}`}
            </Button>
          )}
          {(result !== null || many === 0) && <Button onClick={again}>Read storage again</Button>}
          <LinkButton to={paths.inventory()}>
            {result === null && many !== 0 ? "Cancel" : "Back to inventory"}
          </LinkButton>
        </div>
      )}
    </>
  );
}

const Reading = () => (
  <Panel>
    {/* Takes the focus, which was on a button that is gone. */}
    <div ref={focusHeading} className="grid gap-3 px-4 py-4 max-sm:px-3">
      <p className="text-sm text-muted">
        Reading the storage. With thousands of backups this takes up to a minute.
      </p>
      <Skeleton width="w-full" />
      <Skeleton width="w-40" />
    </div>
  </Panel>
);

function Found({ found, isResult }: { found: Adoption; isResult: boolean }) {
  const { place, sources, sources_total: total, known, unread } = found;
  const matched = sources.filter(({ target }) => target !== null);
  const missing = sources.filter(({ target }) => target === null);
  const facts = [
    ...(known > 0
      ? [`${countOf(known, "stored file is", "stored files are")} listed already.`]
      : []),
    ...(found.self_backups > 0
      ? [
          `${countOf(found.self_backups, "backup")} of Quarterdeck itself: restore with “quarterdeck restore-self”.`,
        ]
      : []),
    ...(total > sources.length ? [`Only ${sources.length} of ${total} sources are shown.`] : []),
  ];
  return (
    <>
      {isResult && (
        <div ref={focusHeading}>
          <Notice tone={found.adopted > 0 ? "good" : "warn"}>
            <p>
              {found.adopted > 0
                ? `${countOf(found.adopted, "backup")} adopted. No schedule runs for them, and retention deletes none until you edit their backup.`
                : "No backups adopted: they were adopted meanwhile."}
            </p>
          </Notice>
        </div>
      )}
      {unread > 0 && (
        <Notice tone="warn">
          <p>
            {countOf(unread, "stored file was", "stored files were")} not read in time.{" "}
            {isResult ? "Read the storage again" : "Adopt the backups found first, then read again"}{" "}
            to go on with {unread === 1 ? "it" : "them"}.
          </p>
        </Notice>
      )}
      {matched.length > 0 && (
        <Panel title={isResult ? "Adopted" : "To be adopted"}>
          <SourceTable sources={matched} />
        </Panel>
      )}
      {missing.length > 0 && <MissingSources sources={missing} />}
      {found.left_out_total > 0 && <LeftOut files={found.left_out} total={found.left_out_total} />}
      {sources.length === 0 && found.left_out_total === 0 && !isResult && (
        <Panel>
          <EmptyState title="Nothing to adopt">
            {known > 0
              ? `All backups in ${place} are listed already.`
              : `There are no backups with a manifest in ${place}.`}
          </EmptyState>
        </Panel>
      )}
      {facts.length > 0 && (
        <ul className="grid gap-0.5 text-sm text-muted">
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      )}
    </>
  );
}
