// The overview over HTTP.
import { operations } from "../../contract/operations.ts";
import type { Overview } from "../../contract/overview.ts";
import { mostProblems } from "../../contract/overview.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Visible } from "../events/visible-messages.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import type { OverviewStore } from "./store.ts";

export type OverviewRoutesOptions = {
  store: OverviewStore;
  /** Workers whose processes come up again and again, and never for long. */
  crashLoops(): readonly number[];
};

export function overviewRoutes({ store, crashLoops }: OverviewRoutesOptions): Route[] {
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
        failing_since: failing_since && toTimestamp(failing_since),
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
        .slice(0, mostProblems),
    };
  }

  return [
    route(operations.showOverview, {
      find: nothingToFind,
      handle: async ({ caller: { serverIds } }) => {
        const [workers, webhooks, channels, untold_servers] = await Promise.all([
          workersPart(serverIds),
          webhooksPart(serverIds),
          channelsPart(serverIds),
          store.untoldServers(serverIds),
        ]);
        return reply(200, { workers, webhooks, channels, untold_servers });
      },
    }),
  ];
}
