import { useQuery } from "@tanstack/react-query";
import { useLoaderData } from "react-router";
import { isInTransit } from "../../contract/states.ts";
import { createWorkerBody, type CreateWorkerBody } from "../../contract/workers/worker.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { call } from "../api/client.ts";
import { mutate } from "../api/mutate.ts";
import { cacheParent } from "../api/parent-cache.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { AccountNotice } from "../app/AccountNotice.tsx";
import { FormPage } from "../app/FormPage.tsx";
import { serverQuery, siteName, siteQuery } from "../app/inventory.ts";
import { paths } from "../paths.ts";
import { DocsLink } from "../ui/DocsLink.tsx";
import { CommandPreview } from "./CommandPreview.tsx";
import type { newWorkerLoader } from "./loaders.ts";
import { workerQuery } from "./queries.ts";
import { defaultValues } from "./worker-form.ts";
import { WorkerFields } from "./WorkerFields.tsx";

async function createWorker(siteId: number, { stopasgroup, ...rest }: CreateWorkerBody) {
  // Another service may not know the field, and what is off need not be said.
  const body = { ...rest, ...(stopasgroup === true && { stopasgroup }) };
  const worker = await mutate(
    { mutationFn: () => call("createWorker", { id: siteId }, { body }) },
    undefined,
  );
  cacheParent("listWorkers", worker.id, siteId);
  await invalidate("listWorkers");
  queryClient.setQueryData(workerQuery(worker.id).queryKey, worker);
  const name = workerName(worker);
  return {
    to: paths.worker(worker.id),
    text: isInTransit(worker.status) ? `Installing ${name}.` : `Created ${name}.`,
  };
}

export function WorkerNewPage() {
  const { siteId, serverId } = useLoaderData<typeof newWorkerLoader>();
  const { data: site } = useQuery(siteQuery(siteId));
  const { data: server } = useQuery({ ...serverQuery(serverId ?? 0), enabled: serverId !== null });
  const name = siteName(siteId, site);
  const machineMemory = server?.memory ?? null;
  return (
    <FormPage
      title="New worker"
      context={[name]}
      crumbs={[
        { label: "Servers", to: paths.home() },
        { label: `${name} workers`, to: paths.workers(siteId) },
      ]}
      notice={<AccountNotice site={site} />}
      schema={createWorkerBody}
      defaultValues={defaultValues}
      save={(body) => createWorker(siteId, body)}
      submit={["Create worker", "Creating…"]}
      cancelTo={paths.workers(siteId)}
      leaveQuestion="Leave without creating the worker?"
      preview={
        // What another service would run is not known.
        site?.artisan && (
          <>
            <CommandPreview artisan={site.artisan} machineMemory={machineMemory} />
            <DocsLink page="workers">How workers run</DocsLink>
          </>
        )
      }
    >
      <WorkerFields root={site?.root} machineMemory={machineMemory} />
    </FormPage>
  );
}
