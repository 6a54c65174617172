// Actions on a result of the search, without opening its page.
import { canBackupConfiguration } from "../../contract/backups/backup.ts";
import type { SearchHit } from "../../contract/search.ts";
import { canWorker, type WorkerAction, workerStates } from "../../contract/workers/worker.ts";
import { call } from "../api/client.ts";
import { invalidate } from "../api/query.ts";
import { changeRefusal } from "../commands/permission.ts";
import { toast } from "../app/toasts.ts";
import { lookUp } from "../look-up.ts";
import { paths } from "../paths.ts";
import type { IconName } from "../ui/Icon.tsx";
import { type Entry, toAction, toPage } from "./entry.ts";
import { goTo, goToSection } from "./go-to.ts";
import { serverPages, sitePages } from "./place-pages.ts";
import { runAll } from "./run-all.ts";

const toOpen = (label: string, to: string): Entry => toPage("right", label, "", to);

/** An action that is disabled for a read-only token. */
const toChange: typeof toAction = (icon, label, run, refusal) =>
  toAction(icon, label, run, changeRefusal.get() ?? refusal);

/** Sends a request. Errors are shown in a toast, because the palette is closed by then. */
async function act(what: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    toast.failure(`Couldn't ${what}.`, error);
  }
}

const workerWords = {
  restart: { label: "Restart", icon: "restart", operation: "restartWorker" },
  stop: { label: "Stop", icon: "stop", operation: "stopWorker" },
  start: { label: "Start", icon: "play", operation: "startWorker" },
} as const satisfies Partial<
  Record<WorkerAction, { label: string; icon: IconName; operation: string }>
>;

type AskedAction = keyof typeof workerWords;

/** Unknown states are left to the service to judge. */
function workerRefusal(action: AskedAction, status: string | null): string | undefined {
  const known = workerStates.find((state) => state === status);
  return known === undefined || canWorker[action]({ status: known })
    ? undefined
    : `Can't ${action} while the status is ${known}.`;
}

function workerActions({ id, name, status }: SearchHit): Entry[] {
  const toEntry = (action: AskedAction) => {
    const { label, icon, operation } = workerWords[action];
    return toChange(
      icon,
      label,
      () =>
        void act(`${action} ${name} (worker ${id})`, async () => {
          await call(operation, { id });
          await invalidate("listWorkers", "showWorker");
        }),
      workerRefusal(action, status),
    );
  };
  // A result does not include the earlier status of an unreachable worker.
  const others =
    status === "unreachable"
      ? (["start", "stop"] as const)
      : ([status === "stopped" ? "start" : "stop"] as const);
  return [
    toOpen("Open", paths.worker(id)),
    toEntry("restart"),
    ...others.map(toEntry),
    toAction("bottom", "View log", () => void goToSection(paths.worker(id), "Log")),
    toPage("edit", "Edit", "", paths.editWorker(id)),
  ];
}

function configurationActions({ id, name, status }: SearchHit): Entry[] {
  const run = () =>
    void act(`run “${name}”`, async () => {
      const backup = await call("runBackup", { backupConfigurationId: id });
      await invalidate("listBackupConfigurations", "showBackupConfiguration", "listBackups");
      if (backup === undefined) return;
      const show = () => goTo(paths.backup(backup.id));
      toast.success(`Started a backup of “${name}”.`, undefined, { label: "Show", run: show });
    });
  const isRefused = status !== null && !canBackupConfiguration.run({ status });
  const refusal = isRefused ? `Can't run while the status is ${status}.` : undefined;
  return [
    toOpen("Open", paths.backupConfiguration(id)),
    toChange("play", "Run now", run, refusal),
    toPage("edit", "Edit", "", paths.editBackupConfiguration(id)),
  ];
}

function webhookActions({ id, name }: SearchHit): Entry[] {
  const host = URL.parse(name)?.host ?? name;
  const ping = () =>
    void act(`ping ${host}`, async () => {
      const delivery = await call("pingWebhook", { id });
      await invalidate("listWebhooks", "showWebhook", "listDeliveries");
      // Whether it arrives is known later, and shown on the page of the delivery.
      const show = () => goTo(paths.webhook(id, { delivery: delivery.id }));
      toast.success(`Sending a ping to ${host}.`, undefined, { label: "Show delivery", run: show });
    });
  return [toOpen("Open", paths.webhook(id)), toChange("send", "Send ping", ping)];
}

export const runAllOf = (server: { id: number; name: string }, label: string): Entry =>
  toChange(
    "play",
    label,
    () => void act(`run the backups of ${server.name}`, () => runAll(server)),
  );

const actions: Record<string, (hit: SearchHit) => Entry[]> = {
  server: (hit) => [
    ...serverPages(hit),
    toPage("activity", "Activity", "", paths.activity({ server: hit.id })),
    runAllOf(hit, "Run all backups"),
  ],
  site: (hit) => [
    ...sitePages(hit),
    toPage("activity", "Activity", "", paths.activity({ site: hit.id })),
  ],
  database: ({ id, server_id: serverId }) =>
    serverId === null
      ? []
      : [
          toOpen("Backups of its server", paths.backups(serverId)),
          toPage(
            "plus",
            "New backup",
            "",
            paths.newBackupConfiguration(serverId, { type: "database", id }),
          ),
        ],
  configuration: configurationActions,
  worker: workerActions,
  webhook: webhookActions,
  token: () => [toOpen("Open settings", paths.settings())],
};

export const actionsOf = (hit: SearchHit): Entry[] => lookUp(actions, hit.kind)?.(hit) ?? [];
