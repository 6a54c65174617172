// What workers tell: to the timeline every change of state that somebody made or should see, to receivers trouble and its end.
import type { EventType } from "../../contract/events.ts";
import type { WorkerState } from "../../contract/workers/worker.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { theSupervisor } from "../activity/actor.ts";
import type { NewActivity } from "../activity/store.ts";
import type { NewEvent } from "../events/event.ts";
import type { SiteRow } from "../inventory/store.ts";
import type { WorkerRow } from "./store.ts";

/** What a message and the timeline call it: they name things of many sites. */
const nameAtSite = (worker: WorkerRow, site: SiteRow) => `${workerName(worker)} (${site.name})`;

const objectOf = ({ id }: WorkerRow) => ({ type: "worker", id });

type WorkerEvent = Extract<EventType, `worker.${string}`>;

/** How each stands on the timeline. */
const eventActions: Record<WorkerEvent, string> = {
  "worker.failed": "failed",
  "worker.recovered": "recovered",
  "worker.crash_looping": "crash-looping",
  "worker.stable": "stable again",
};

/** Said once for a failure or a crash loop, and once when that is over. */
export const workerEvent = (
  type: WorkerEvent,
  worker: WorkerRow,
  site: SiteRow,
  reason: string | null,
): NewEvent => ({
  type,
  server_id: site.serverId,
  site_id: site.id,
  database_id: null,
  data: {
    worker_id: worker.id,
    site_id: site.id,
    site: site.name,
    server_id: site.serverId,
    connection: worker.connection,
    queue: worker.queue,
    status: worker.status,
    ...(reason !== null && { reason }),
  },
  notification: {
    subject: nameAtSite(worker, site),
    facts: [
      ["Worker", String(worker.id)],
      ["Processes", String(worker.processes)],
    ],
    moments: [],
    reason,
    path: `/workers/${worker.id}`,
  },
  activity: {
    kind: "worker",
    action: eventActions[type],
    object: objectOf(worker),
    actor: theSupervisor,
  },
});

/** Somebody asked for it. */
export const askedEntry = (worker: WorkerRow, site: SiteRow, action: string): NewActivity => ({
  kind: "worker",
  action,
  object: { ...objectOf(worker), name: nameAtSite(worker, site) },
  server_id: site.serverId,
  site_id: site.id,
});

/** A start or stop that has come to its end. A worker that restarts by itself, job by job, would flood the timeline. */
export function settledEntry(
  worker: WorkerRow,
  site: SiteRow,
  from: WorkerState,
): NewActivity | null {
  const isUp = worker.status === "installed" && (from === "installing" || from === "starting");
  if (!isUp && worker.status !== "stopped") return null;
  return { ...askedEntry(worker, site, isUp ? "up" : "stopped"), actor: theSupervisor };
}
