// Creates workers, after checking on the site's server what no schema can.
import {
  withWorkerDefaults,
  type CreateWorkerBody,
  type UpdateWorkerBody,
} from "../../../contract/workers/bodies.ts";
import type { FieldErrors } from "../../../contract/errors.ts";
import { recordActivity } from "../../activity/store.ts";
import type { Clock } from "../../clock.ts";
import { conflict } from "../../http/service-error.ts";
import type { SiteRow } from "../../inventory/store.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import { ServerAway } from "../../ssh/server-away.ts";
import type { Servers } from "../../ssh/servers.ts";
import type { Connection } from "../../store/database.ts";
import type { TakenProgram } from "../../store/tables/workers.ts";
import { toError } from "../../to-error.ts";
import { deadlineAt } from "../deadlines/deadlines.ts";
import { jobReference } from "../job-reference.ts";
import { askedEntry } from "../event-data.ts";
import type { ProcessManager } from "../processes/process-manager.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";
import { accountOf } from "../processes/worker-program.ts";

export type Creator = ReturnType<typeof createCreator>;

type CreatorOptions = {
  store: WorkerStore;
  manager: Pick<ProcessManager, "refusal">;
  jobs: Pick<Jobs, "send">;
  servers: Pick<Servers, "open">;
  clock: Clock;
};

/** How long a request waits for a server that is not connected. */
const checkMs = 2000;

export function createCreator({ store, manager, jobs, servers, clock }: CreatorOptions) {
  /** @throws ServiceError where the site can have no worker now */
  async function checkSite(site: SiteRow): Promise<void> {
    const account = accountOf(site);
    if ("problem" in account) throw conflict(account.problem);
    const refusal = await manager.refusal(site.serverId);
    if (refusal !== null) throw conflict(refusal);
  }

  /** @param takeOver the program whose place it takes; null = none */
  async function insert(
    tx: Connection,
    site: SiteRow,
    body: CreateWorkerBody,
    takeOver: TakenProgram | null,
  ): Promise<WorkerRow> {
    const { directory: wanted, ...settings } = withWorkerDefaults(body);
    const row = await store.insert(tx, {
      ...settings,
      directory: wanted ?? null,
      site_id: site.id,
      deadline_at: deadlineAt("installing", settings, clock.now()),
      take_over: takeOver,
    });
    await jobs.send(tx, "worker.apply", jobReference(row, site));
    const detail =
      takeOver &&
      `Takes the place of supervisord's program ${takeOver.program} of ${takeOver.file}.`;
    await recordActivity(tx, { ...askedEntry(row, site, "created"), detail });
    return row;
  }

  return {
    /**
     * Checks fields on the site's server.
     * @returns errors by field
     */
    async checkFields(site: SiteRow, { directory }: UpdateWorkerBody): Promise<FieldErrors> {
      const account = accountOf(site);
      if (directory === undefined || "problem" in account) return {};
      // Checks only that the folder exists: where it leads is checked at each start.
      try {
        const host = await servers.open(site.serverId, { signal: AbortSignal.timeout(checkMs) });
        const found = await host.as(account).folderInside(site.root, directory);
        return typeof found === "string"
          ? {}
          : { directory: [`The directory field ${found.problem}.`] };
      } catch (error) {
        if (error instanceof ServerAway || toError(error).name === "TimeoutError") return {};
        throw error;
      }
    },

    /** @param body whose fields `checkFields` has accepted */
    async create(site: SiteRow, body: CreateWorkerBody): Promise<WorkerRow> {
      await checkSite(site);
      return store.transaction((tx) => insert(tx, site, body, null));
    },
    checkSite,
    insert,
  };
}
