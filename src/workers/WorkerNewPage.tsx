import { useLoaderData, useLocation } from "react-router";
import { isInTransit } from "../../contract/states.ts";
import type { CreateWorkerBody } from "../../contract/workers/bodies.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { call } from "../api/client.ts";
import { mutate } from "../api/mutate.ts";
import { cacheParent } from "../api/parent-cache.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { paths } from "../paths.ts";
import type { newWorkerLoader } from "./loaders.ts";
import { workerQuery } from "./queries.ts";
import { newValues, toValues, withGiven } from "./worker-form.ts";
import { WorkerForm } from "./WorkerForm.tsx";

async function createWorker(siteId: number, { stopasgroup, ...rest }: CreateWorkerBody) {
  // Another service may not support the field, and false is the default.
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
  const { siteId, serverId, original, newest } = useLoaderData<typeof newWorkerLoader>();
  const { search } = useLocation();
  return (
    <WorkerForm
      // Keyed, because duplicating another worker is a new form.
      key={search}
      title={original === null ? "New worker" : `Duplicate ${workerName(original)}`}
      siteId={siteId}
      serverId={serverId}
      valuesOf={(root) =>
        original === null
          ? withGiven(newValues(newest), new URLSearchParams(search).get("with"))
          : toValues(original, root)
      }
      save={(values) => createWorker(siteId, values)}
      submit={["Create worker", "Creating…"]}
      cancelTo={original === null ? paths.workers(siteId) : paths.worker(original.id)}
      leaveQuestion="Leave without creating the worker?"
    />
  );
}
