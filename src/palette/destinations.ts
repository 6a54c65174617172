// Where the palette leads: the pages of every place that is known, and the things that were seen.
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import type { Webhook } from "../../contract/webhooks/webhook.ts";
import type { Worker } from "../../contract/workers/worker.ts";
import { paths } from "../paths.ts";
import { type Entry, toPage } from "./entry.ts";

type Named = { id: number; name: string };

export type Places = {
  servers: readonly Named[];
  sites: readonly Named[];
  /** False from a service that lists no servers: these are then the ones that were opened before. */
  isWhole: boolean;
};

/** From what is looked for most to what is looked for least. */
export function placeEntries({ servers, sites, isWhole }: Places): Entry[] {
  const home = isWhole ? "Servers" : "Sites and servers";
  return [
    toPage("server", "Overview", home, paths.home()),
    ...(isWhole ? [toPage("activity", "Activity", "", paths.activity())] : []),
    ...servers.map(({ id, name }) =>
      toPage("backup", `${name} backups`, `Server ${id}`, paths.backups(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("site", `${name} workers`, `Site ${id}`, paths.workers(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("webhook", `${name} webhooks`, `Site ${id}`, paths.webhooks(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("bell", `${name} notifications`, `Site ${id}`, paths.notifications(id)),
    ),
    // Of a service that lists no servers nobody knows whether it has these.
    ...(isWhole ? servers : []).map(({ id, name }) =>
      toPage("bell", `${name} notifications`, `Server ${id}`, paths.serverNotifications(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("plus", `New worker on ${name}`, "", paths.newWorker(id)),
    ),
    ...sites.map(({ id, name }) =>
      toPage("plus", `New webhook on ${name}`, "", paths.newWebhook(id)),
    ),
    ...servers.map(({ id, name }) =>
      toPage("plus", `New backup on ${name}`, "", paths.newBackupConfiguration(id)),
    ),
    toPage("settings", "Settings", "Tokens, appearance, device", paths.settings()),
    toPage("key", "Connect to another service", "", paths.connect()),
    {
      key: "disconnect",
      group: "go",
      icon: "leave",
      label: "Disconnect",
      detail: "",
      act: { kind: "disconnect" },
    },
  ];
}

export type Seen = {
  configurations: readonly Pick<BackupConfiguration, "id" | "name">[];
  workers: readonly Pick<Worker, "id" | "queue" | "site_id">[];
  webhooks: readonly Pick<Webhook, "id" | "url">[];
};

/** @param sites for the names of what belongs to them */
export function seenEntries(
  { configurations, workers, webhooks }: Seen,
  sites: readonly Named[],
): Entry[] {
  const nameOf = (siteId: number | undefined) => sites.find(({ id }) => id === siteId)?.name;
  return [
    ...configurations.map(({ id, name }) =>
      toPage("backup", name, `Configuration ${id}`, paths.backupConfiguration(id)),
    ),
    ...workers.map(({ id, queue, site_id: siteId }) =>
      toPage(
        "restart",
        `Worker ${id}`,
        [queue, nameOf(siteId)].filter((part) => part !== undefined).join(" · "),
        paths.worker(id),
      ),
    ),
    ...webhooks.map(({ id, url }) => toPage("webhook", url, `Webhook ${id}`, paths.webhook(id))),
  ];
}
