// Stores the query cache for the next load of the tab, when the page is hidden or left. @tanstack/query-persist-client
// was rejected: it adds 2 kB to the first bundle, stores everything by default, and writes while a page is used.
import type { Query, QueryClient } from "@tanstack/react-query";
import type { OperationName } from "../../../contract/operations.ts";
import { isPassing } from "../../api/api-error.ts";
import { attempt, cacheKey, browserStorage } from "../../api/kept-session.ts";
import { sessions } from "../../api/session.ts";
import { type KeptCache, markOf } from "./kept-cache.ts";
import { leftAt } from "./page-change.ts";

/** An allowlist, so that a new operation is stored only once somebody has checked what it returns. */
const keptOperations: ReadonlySet<unknown> = new Set<OperationName>([
  "listBackupConfigurations",
  "showBackupConfiguration",
  "showBackupSchedule",
  "listBackups",
  "showBackup",
  "listWorkers",
  "showWorker",
  "listWebhooks",
  "showWebhook",
  "listDeliveries",
  "listNotifications",
  "listServerNotifications",
  "listNotificationChannels",
  "listActivity",
  "showOverview",
  "listServers",
  "showServer",
  "listSites",
  "showSite",
  "listDatabases",
  "listStorageProviders",
  "showInstallation",
  "showCurrentToken",
]);

const maxAnswers = 60;
/** In characters: a browser allows a tab about five million. */
const maxLength = 500_000;
const maxAnswerLength = 100_000;

/** A signing secret or a token, in any response. */
const secret = /whsec_|\bqd_\w{40}/;

/** Reloading the tab aborts running refetches, in Chromium before the page is notified. */
const stillHolds = ({ data, error }: Query["state"]): boolean =>
  data !== undefined && (error === null || isPassing(error));

/** Returns the newest responses that may be stored, as JSON. */
export function toKept(queries: readonly Pick<Query, "queryKey" | "state">[]): string[] {
  let length = 0;
  return queries
    .filter(({ queryKey, state }) => keptOperations.has(queryKey[0]) && stillHolds(state))
    .sort((one, other) => other.state.dataUpdatedAt - one.state.dataUpdatedAt)
    .map(({ queryKey, state }) => JSON.stringify([queryKey, state.data, state.dataUpdatedAt]))
    .filter((text) => text.length <= maxAnswerLength && !secret.test(text))
    .filter((text) => (length += text.length) <= maxLength)
    .slice(0, maxAnswers);
}

/** @returns a function that stops storing */
export function keepCache(client: QueryClient): () => void {
  const keep = () => {
    const session = sessions.current();
    if (session === null) return;
    const rest: Omit<KeptCache, "responses"> = {
      mark: markOf(session),
      leftAt: [...leftAt].slice(-maxAnswers),
    };
    const responses = toKept(client.getQueryCache().getAll()).join(",");
    attempt(() =>
      browserStorage("sessionStorage")?.setItem(
        cacheKey,
        `${JSON.stringify(rest).slice(0, -1)},"responses":[${responses}]}`,
      ),
    );
  };
  const keepHidden = () => {
    if (document.hidden) keep();
  };
  addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", keepHidden);
  return () => {
    removeEventListener("pagehide", keep);
    document.removeEventListener("visibilitychange", keepHidden);
  };
}
