import { useLoaderData } from "react-router";
import type { UpdateWorkerBody } from "../../contract/workers/bodies.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { call } from "../api/client.ts";
import { mutate } from "../api/mutate.ts";
import { invalidate, queryClient, useLoaded } from "../api/query.ts";
import { paths } from "../paths.ts";
import type { editWorkerLoader } from "./loaders.ts";
import { workerQuery } from "./queries.ts";
import { toChange, toValues } from "./worker-form.ts";
import { WorkerForm } from "./WorkerForm.tsx";

async function saveWorker(id: number, body: UpdateWorkerBody) {
  const worker = await mutate(
    { mutationFn: () => call("updateWorker", { id }, { body }) },
    undefined,
  );
  await invalidate("listWorkers");
  queryClient.setQueryData(workerQuery(id).queryKey, worker);
  const name = workerName(worker);
  return {
    to: paths.worker(id),
    text:
      worker.is_changing === true
        ? `Changing ${name}: each process is replaced once its job is done.`
        : worker.status === "stopped" || worker.status === "failed"
          ? `Saved ${name}. The settings apply from its next start.`
          : `Saved ${name}.`,
  };
}

export function WorkerEditPage() {
  const { id, siteId, serverId } = useLoaderData<typeof editWorkerLoader>();
  const worker = useLoaded(workerQuery(id), undefined, true);
  const name = workerName(worker);
  return (
    <WorkerForm
      title={`Edit ${name}`}
      siteId={siteId}
      serverId={serverId}
      crumb={{ label: name, to: paths.worker(id) }}
      valuesOf={(root) => toValues(worker, root)}
      save={(body, before, root) => saveWorker(id, toChange(body, before, root))}
      submit={["Save changes", "Saving…"]}
      cancelTo={paths.worker(id)}
      leaveQuestion="Leave without saving the worker?"
    />
  );
}
