// The rules of the overview: what counts as a problem of workers, webhooks and channels, and which reason is told.
import { maxProblems, type Overview } from "../../contract/overview.ts";
import { toTimestamp, toTimestampOrNull } from "../../contract/values.ts";
import type { Visible } from "../events/visible-messages.ts";
import type { Database } from "../store/database.ts";
import { createOverviewStore } from "./store.ts";

type OverviewServiceOptions = {
  db: Database;
  /** Workers whose processes come up again and again, and never for long. */
  crashLoops(): readonly number[];
};

export type OverviewService = {
  /** @param visible the servers that whoever asks may see; null = all */
  show(visible: Visible): Promise<Overview>;
};

export function createOverviewService({ db, crashLoops }: OverviewServiceOptions): OverviewService {
  const store = createOverviewStore(db);

  async function workersPart(visible: Visible): Promise<Overview["workers"]> {
    const loops = crashLoops();
    const [byStatus, troubled] = await Promise.all([
      store.workersByStatus(visible),
      store.troubledWorkers(visible, loops),
    ]);
    return {
      total: [...byStatus.values()].reduce((sum, many) => sum + many, 0),
      up: byStatus.get("installed") ?? 0,
      stopped: byStatus.get("stopped") ?? 0,
      problems: troubled.map(({ loop_reason: loopReason, ...row }) => {
        // That it failed is more to say of a worker than that it went on for a while.
        const isLoop = loops.includes(row.id) && row.status !== "failed";
        return { ...row, is_crash_loop: isLoop, reason: isLoop ? loopReason : row.reason };
      }),
    };
  }

  async function webhooksPart(visible: Visible): Promise<Overview["webhooks"]> {
    const [total, troubled] = await Promise.all([
      store.countWebhooks(visible),
      store.troubledWebhooks(visible),
    ]);
    return {
      total,
      problems: troubled.map(({ url, disabled_at, failing_since, ...row }) => ({
        ...row,
        host: new URL(url).host,
        status: disabled_at === null ? "enabled" : "disabled",
        failing_since: toTimestampOrNull(failing_since),
      })),
    };
  }

  async function channelsPart(visible: Visible): Promise<Overview["channels"]> {
    const used = await store.usedChannels(visible);
    return {
      total: used.length,
      problems: used
        .flatMap(({ status, title, created_at: at, ...row }) =>
          (status === "failed" || status === "retrying") && title !== null && at !== null
            ? [{ ...row, title, at: toTimestamp(new Date(at)) }]
            : [],
        )
        .slice(0, maxProblems),
    };
  }

  return {
    async show(visible) {
      const [workers, webhooks, channels, untold_servers] = await Promise.all([
        workersPart(visible),
        webhooksPart(visible),
        channelsPart(visible),
        store.untoldServers(visible),
      ]);
      return { workers, webhooks, channels, untold_servers };
    },
  };
}
