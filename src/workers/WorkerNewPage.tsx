import { useMutation, useQuery } from "@tanstack/react-query";
import { useLoaderData, useNavigate } from "react-router";
import { isInTransit } from "../../contract/states.ts";
import type { CreateWorkerBody } from "../../contract/workers/worker.ts";
import { cacheParent } from "../api/parent-cache.ts";
import { call } from "../api/client.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { AccountNotice } from "../app/AccountNotice.tsx";
import { Crumbs } from "../app/Crumbs.tsx";
import { serverQuery, siteName, siteQuery } from "../app/inventory.ts";
import { savedState } from "../app/LeaveGuard.tsx";
import { LinkButton } from "../app/LinkButton.tsx";
import { toast } from "../app/toasts.ts";
import { paths } from "../paths.ts";
import { PageHeader } from "../ui/PageHeader.tsx";
import type { newWorkerLoader } from "./loaders.ts";
import { workerQuery } from "./queries.ts";
import { WorkerForm } from "./WorkerForm.tsx";

export function WorkerNewPage() {
  const { siteId, serverId } = useLoaderData<typeof newWorkerLoader>();
  const navigate = useNavigate();
  const { data: site } = useQuery(siteQuery(siteId));
  const { data: server } = useQuery({ ...serverQuery(serverId ?? 0), enabled: serverId !== null });
  const { mutateAsync, isPending } = useMutation({
    mutationFn: (body: CreateWorkerBody) => call("createWorker", { id: siteId }, { body }),
  });

  const create = async (body: CreateWorkerBody) => {
    const worker = await mutateAsync(body);
    cacheParent("listWorkers", worker.id, siteId);
    await invalidate("listWorkers");
    queryClient.setQueryData(workerQuery(worker.id).queryKey, worker);
    await navigate(paths.worker(worker.id), { state: savedState });
    toast.success(
      isInTransit(worker.status)
        ? `Installing worker ${worker.id}.`
        : `Worker ${worker.id} created.`,
    );
  };

  const name = siteName(siteId, site);
  return (
    <>
      <PageHeader
        title="New worker"
        context={[name]}
        crumbs={
          <Crumbs
            items={[
              { label: "Servers", to: paths.home() },
              { label: `${name} workers`, to: paths.workers(siteId) },
            ]}
          />
        }
      />
      <AccountNotice site={site} />
      <WorkerForm
        machine={{ artisan: site?.artisan, root: site?.root, memory: server?.memory ?? null }}
        isPending={isPending}
        onCreate={create}
        cancel={<LinkButton to={paths.workers(siteId)}>Cancel</LinkButton>}
      />
    </>
  );
}
