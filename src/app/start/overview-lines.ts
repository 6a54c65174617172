// The lines of the overview: each problem, with a link that helps to solve it.
import { workerName } from "../../../contract/workers/worker-name.ts";
import type { Overview } from "../../../contract/overview.ts";
import { paths } from "../../paths.ts";
import type { Tone } from "../../ui/feedback/tone.ts";

export type OverviewLine = {
  key: string;
  tone: Tone;
  title: string;
  /** Shown after the title. */
  reason: string | null;
  /** Since when, or when it happened. */
  at: string | null;
  /** Whether the problem lasts since `at`, so that its duration is shown. */
  isFailing?: boolean;
  cure: { to: string; label: string };
};

const many = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`;

/** The first line of a reason: a worker's reason continues with its log. */
const firstLine = (text: string | null) => text?.split("\n", 1)[0] ?? null;

export function workerLines({ problems }: Overview["workers"]): OverviewLine[] {
  return problems.map(
    ({ id, site, queue, connection, status, is_crash_loop: isCrashLoop, reason }) => ({
      key: `worker ${id}`,
      tone: status === "failed" || isCrashLoop ? "bad" : "warn",
      title: `${site}: worker ${connection === undefined ? queue : workerName({ queue, connection })} ${isCrashLoop ? "crash-looping" : status}`,
      reason: firstLine(reason),
      at: null,
      cure: { to: paths.worker(id), label: `Worker ${id}` },
    }),
  );
}

export function messageLines({
  webhooks,
  channels,
  servers_without_channels: unnotifiedServers = [],
}: Overview): OverviewLine[] {
  return [
    ...webhooks.problems.map(({ id, site, host, status, failing_since: at, reason }) => ({
      key: `webhook ${id}`,
      tone: "bad" as const,
      title: `${site}: webhook ${host} ${status === "disabled" ? "disabled" : "failing"}`,
      reason,
      at,
      isFailing: status !== "disabled",
      cure: { to: paths.webhook(id), label: `Webhook ${id}` },
    })),
    ...channels.problems.map(
      ({ id, name, site_id: site, server_id: server, title, answer, at }) => ({
        key: `channel ${id}`,
        tone: "bad" as const,
        title: `Undelivered to ${name}: ${title}`,
        reason: answer,
        at,
        cure: { to: channelPath(site, server ?? null), label: "Send test" },
      }),
    ),
    ...unnotifiedServers.map(({ id, name, configurations }) => ({
      key: `server ${id}`,
      tone: "warn" as const,
      title: `${name}: no notifications for ${many(configurations, "backup", "backups")}`,
      reason: "No site lists the database, and the server has no notification channel.",
      at: null,
      cure: { to: paths.serverNotifications(id), label: "Choose channels" },
    })),
  ];
}

const channelPath = (siteId: number | null, serverId: number | null): string =>
  siteId !== null
    ? paths.notifications(siteId)
    : serverId !== null
      ? paths.serverNotifications(serverId)
      : paths.home();

/** One line about everything in order; null = nothing to mention. */
export function calmLine({
  workers,
  webhooks,
  channels,
  servers_without_channels: unnotifiedServers = [],
}: Overview): string | null {
  const receivers = webhooks.total + channels.total;
  const parts = [
    workers.total > 0 &&
      workers.problems.length === 0 &&
      (workers.up === workers.total
        ? `${many(workers.up, "worker", "workers")} up`
        : `${workers.up} of ${many(workers.total, "worker", "workers")} up, ${workers.stopped} stopped`),
    receivers > 0 &&
      webhooks.problems.length + channels.problems.length + unnotifiedServers.length === 0 &&
      `${many(receivers, "receiver", "receivers")} reachable`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? null : parts.join(" · ");
}
