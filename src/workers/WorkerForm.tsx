// The form of a worker, new or existing.
import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, useState } from "react";
import type { CreateWorkerBody } from "../../contract/workers/bodies.ts";
import { AccountNotice } from "../app/AccountNotice.tsx";
import { FormPage } from "../app/form/FormPage.tsx";
import { serverQuery, siteName, siteQuery } from "../app/inventory.ts";
import { paths } from "../paths.ts";
import { DocsLink } from "../ui/text/DocsLink.tsx";
import { CommandPreview } from "./CommandPreview.tsx";
import { formSchema, type WorkerFormValues } from "./worker-form.ts";
import { WorkerFields } from "./WorkerFields.tsx";

type WorkerFormProps = Pick<
  ComponentProps<typeof FormPage<WorkerFormValues, CreateWorkerBody>>,
  "title" | "submit" | "cancelTo" | "leaveQuestion"
> & {
  siteId: number | null;
  serverId: number | null;
  /** A breadcrumb after the list of the site's workers. */
  crumb?: { label: string; to: string };
  /** @param root the site's folder; undefined = unknown */
  valuesOf: (root: string | undefined) => WorkerFormValues;
  save: (
    body: CreateWorkerBody,
    before: WorkerFormValues,
    root: string | undefined,
  ) => Promise<{ to: string; text: string }>;
};

export function WorkerForm({ siteId, serverId, crumb, valuesOf, save, ...page }: WorkerFormProps) {
  const { data: site } = useQuery({ ...siteQuery(siteId ?? 0), enabled: siteId !== null });
  const { data: server } = useQuery({ ...serverQuery(serverId ?? 0), enabled: serverId !== null });
  const root = site?.root;
  // A poll must not change the form while it is being filled in.
  const [defaultValues] = useState(() => valuesOf(root));
  const [schema] = useState(() => formSchema(root));
  const machineMemory = server?.memory ?? null;
  const name = siteId === null ? null : siteName(siteId, site);
  return (
    <FormPage
      {...page}
      context={name === null ? [] : [name]}
      crumbs={[
        { label: "Overview", to: paths.home() },
        ...(siteId === null ? [] : [{ label: `${name} workers`, to: paths.workers(siteId) }]),
        ...(crumb ? [crumb] : []),
      ]}
      notice={<AccountNotice site={site} />}
      schema={schema}
      defaultValues={defaultValues}
      save={(body) => save(body, defaultValues, root)}
      preview={
        // The command of another service is unknown.
        site?.artisan && (
          <>
            <CommandPreview artisan={site.artisan} machineMemory={machineMemory} />
            <DocsLink page="workers">How workers run</DocsLink>
          </>
        )
      }
    >
      <WorkerFields root={root} machineMemory={machineMemory} />
    </FormPage>
  );
}
