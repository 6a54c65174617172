// Builds the events and timeline entries of workers. The timeline gets every change that a user made or should see; receivers get
// failures and recoveries.
import type { EventType } from "../../contract/events.ts";
import type { WorkerState } from "../../contract/workers/worker.ts";
import { workerName } from "../../contract/workers/worker-name.ts";
import { theSupervisor } from "../activity/actor.ts";
import type { NewActivity } from "../activity/store.ts";
import type { NewEvent } from "../events/event.ts";
import type { SiteRow } from "../inventory/store.ts";
import type { WorkerRow } from "./store.ts";

/** Name of a worker in messages and on the timeline, which cover many sites. */
const nameAtSite = (worker: WorkerRow, site: SiteRow) => `${workerName(worker)} (${site.name})`;

const objectOf = ({ id }: WorkerRow) => ({ type: "worker", id });

type WorkerEvent = Extract<EventType, `worker.${string}`>;

/** Actions on the timeline, by event. */
const eventActions: Record<WorkerEvent, string> = {
  "worker.failed": "failed",
  "worker.recovered": "recovered",
  "worker.crash_looping": "crash-looping",
  "worker.stable": "stable again",
};

/** Builds the event of a failure or crash loop, or of its end. */
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

/** The entry of an order that a user gave. */
export const askedEntry = (worker: WorkerRow, site: SiteRow, action: string): NewActivity => ({
  kind: "worker",
  action,
  object: { ...objectOf(worker), name: nameAtSite(worker, site) },
  server_id: site.serverId,
  site_id: site.id,
});

/** The entry of a start or stop that is complete. Restarts after max jobs have none: they would flood the timeline. */
export function settledEntry(
  worker: WorkerRow,
  site: SiteRow,
  from: WorkerState,
): NewActivity | null {
  const isUp = worker.status === "installed" && (from === "installing" || from === "starting");
  if (!isUp && worker.status !== "stopped") return null;
  return { ...askedEntry(worker, site, isUp ? "up" : "stopped"), actor: theSupervisor };
}
