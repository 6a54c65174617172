// The rules of the overview: what counts as a problem of workers, webhooks and channels, and which reason is shown.
import { maxProblems, type Overview } from "../../contract/overview.ts";
import { toTimestamp } from "../../contract/values.ts";
import type { Visible } from "../events/visible-messages.ts";
import type { Database } from "../store/database.ts";
import type { ProtectionOverview } from "../backups/protection-overview.ts";
import { judgeTargets, protectionPart, serversPart, toMoment } from "./places.ts";
import { createOverviewStore } from "./store.ts";

export type OverviewServiceOptions = {
  db: Database;
  /** Returns the ids of workers in a crash loop. */
  crashLoops(): Promise<readonly number[]>;
  protection(visible: Visible): Promise<ProtectionOverview>;
  /** Returns the problem of the service's backup of itself; null = none. */
  selfBackup(): Promise<Overview["self_backup"] | null>;
  /** Folder of the sample site that the first start creates. */
  sampleRoot: string;
};

type OverviewService = {
  /** @param visible ids of the servers that the caller may see; null = all */
  show(visible: Visible): Promise<Overview>;
};

export function createOverviewService({
  db,
  crashLoops,
  protection,
  selfBackup,
  sampleRoot,
}: OverviewServiceOptions): OverviewService {
  const store = createOverviewStore(db);

  async function workersPart(visible: Visible) {
    const loops = await crashLoops();
    const { troubled, problems, ...counts } = await store.findWorkers(visible, loops);
    const part: Overview["workers"] = {
      ...counts,
      problems: problems.map(({ loop_reason, loop_since, status_since, ...row }) => {
        // A failed worker is reported as failed, not as crash-looping.
        const isLoop = loops.includes(row.id) && row.status !== "failed";
        return {
          ...row,
          is_crash_loop: isLoop,
          reason: isLoop ? loop_reason : row.reason,
          at: toMoment(isLoop ? loop_since : status_since),
        };
      }),
    };
    return { part, troubled };
  }

  async function webhooksPart(visible: Visible) {
    const { troubled, problems, ...counts } = await store.findWebhooks(visible);
    const part: Overview["webhooks"] = {
      ...counts,
      problems: problems.map(({ url, disabled_at, failing_since, ...row }) => ({
        ...row,
        host: new URL(url).host,
        status: disabled_at === null ? "enabled" : "disabled",
        failing_since: toMoment(failing_since),
        at: toMoment(disabled_at ?? failing_since),
      })),
    };
    return { part, troubled };
  }

  async function channelsPart(visible: Visible) {
    const used = await store.usedChannels(visible);
    const unreached = used.filter(({ status }) => status === "failed" || status === "retrying");
    const problems = unreached.flatMap(
      ({ id, name, site_id, server_id, title, answer, created_at: at }) =>
        title !== null && at !== null
          ? [{ id, name, site_id, server_id, title, answer, at: toTimestamp(new Date(at)) }]
          : [],
    );
    const part: Overview["channels"] = {
      total: used.length,
      failing: problems.length,
      problems: problems.slice(0, maxProblems),
    };
    return { part, unreached };
  }

  return {
    async show(visible) {
      const [workers, webhooks, channels, servers_without_channels, judged, places, self] =
        await Promise.all([
          workersPart(visible),
          webhooksPart(visible),
          channelsPart(visible),
          store.serversWithoutChannels(visible),
          protection(visible),
          store.listPlaces(visible, sampleRoot),
          visible === null ? selfBackup() : null,
        ]);
      const targets = judgeTargets(places, judged);
      const troubles = [...workers.troubled, ...webhooks.troubled];
      return {
        workers: workers.part,
        webhooks: webhooks.part,
        channels: channels.part,
        servers_without_channels,
        ...(visible === null && { self_backup: self ?? null }),
        protection: protectionPart(targets, places.servers, judged.total),
        servers: serversPart(places, targets, troubles, judged, {
          unreached: channels.unreached,
          missing: servers_without_channels,
        }),
        running: judged.running,
      };
    },
  };
}
