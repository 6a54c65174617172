// Defines the filters and sort orders of each list, and parses them from a request. They are not in the operation table, because
// the dashboard loads that.
import type { BackupConfigurationState, BackupState } from "../../contract/backups/backup.ts";
import type { OperationName } from "../../contract/operations.ts";
import { type ListFilter, statusParameter } from "../../contract/paging.ts";
import { isStorableText } from "../../contract/inputs.ts";
import type { DeliveryState } from "../../contract/webhooks/delivery.ts";
import type { WebhookState } from "../../contract/webhooks/webhook.ts";
import type { ShownWorkerState } from "../../contract/workers/worker.ts";
import { InvalidFields } from "./service-error.ts";

/** How urgent a status is, for the sort order `attention`. */
type Urgency = "wrong" | "moving" | "calm";

/** Each row has exactly one of the statuses: the interface's or, where Quarterdeck has a more specific one, that. */
export type Filters<Status extends string = string, Sort extends string = string> = {
  statuses: Record<Status, Urgency>;
  sorts: readonly Sort[];
};

/** Sort order by urgency: the `wrong` statuses one after the other, as listed in `statuses`; then all `moving`, then all `calm`. */
export const byAttention = "attention";

/** Filters of lists whose rows have a name and no status. */
export const namedFilters = { statuses: {}, sorts: ["id", "name"] } as const satisfies Filters;

export const listFilters = {
  listWorkers: {
    statuses: {
      failed: "wrong",
      // The interface's status is that of its processes at the moment.
      crash_looping: "wrong",
      // The state of its processes is unknown.
      unreachable: "wrong",
      installing: "moving",
      starting: "moving",
      restarting: "moving",
      stopping: "moving",
      removing: "moving",
      installed: "calm",
      stopped: "calm",
    } satisfies Record<ShownWorkerState | "crash_looping", Urgency>,
    sorts: [byAttention, "id", "queue", "connection"],
  },
  listBackupConfigurations: {
    statuses: {
      failed: "wrong",
      // Installed, but its last run failed, is damaged or is overdue.
      failing: "wrong",
      // Installed, but without a backup yet.
      unprotected: "wrong",
      // It is installed and has a good backup, with a warning or an overdue restore drill.
      warning: "wrong",
      installing: "moving",
      // Installed, and its last run is pending or running.
      running: "moving",
      removing: "moving",
      installed: "calm",
    } satisfies Record<
      BackupConfigurationState | "failing" | "unprotected" | "warning" | "running",
      Urgency
    >,
    sorts: [byAttention, "id", "name", "next_run_at"],
  },
  listBackups: {
    statuses: {
      failed: "wrong",
      // Finished, but its stored file is damaged.
      damaged: "wrong",
      pending: "moving",
      running: "moving",
      deleting: "moving",
      finished: "calm",
    } satisfies Record<BackupState | "damaged", Urgency>,
    sorts: [byAttention, "id", "size"],
  },
  listWebhooks: {
    statuses: {
      // Enabled, but every attempt fails.
      failing: "wrong",
      disabled: "wrong",
      paused: "calm",
      enabled: "calm",
    } satisfies Record<WebhookState | "failing", Urgency>,
    sorts: [byAttention, "id", "url"],
  },
  listDeliveries: {
    statuses: {
      failed: "wrong",
      retrying: "moving",
      pending: "moving",
      delivered: "calm",
    } satisfies Record<DeliveryState, Urgency>,
    sorts: [byAttention, "id"],
  },
  listServers: namedFilters,
  listSites: namedFilters,
  listDatabases: namedFilters,
  listStorageProviders: namedFilters,
  listNotificationChannels: namedFilters,
  listTokens: namedFilters,
} as const satisfies Partial<Record<OperationName, Filters>>;

/** Filters by operation id. */
export const filtersOf: ReadonlyMap<string, Filters> = new Map(Object.entries(listFilters));

/** The filter, search and sort order of a request. */
export type Wanted = {
  words: readonly string[];
  /** Empty = all. */
  statuses: readonly string[];
  /** Null = the list's default order. */
  sort: { name: string; isDescending: boolean } | null;
};

/** Maximum number of words in a search; further words are ignored. */
const maxWords = 10;

const maxSearchText = 200;

const namesOf = (text: string) => text.split(",").filter((name) => name !== "");

/**
 * Parses the filter of a request. An empty parameter counts as absent.
 * @returns null where all parameters are absent
 * @throws InvalidFields for statuses and sorts that the list does not have, and for an invalid search
 */
export function readFilter(query: ListFilter, { statuses, sorts }: Filters): Wanted | null {
  const { [statusParameter]: status = "", search = "", sort = "" } = query;
  const known = Object.keys(statuses);
  const wanted = {
    words: search
      .split(/\s+/)
      .filter((word) => word !== "")
      .slice(0, maxWords),
    statuses: [...new Set(namesOf(status))],
    sort: sort === "" ? null : { name: sort.replace(/^-/, ""), isDescending: sort.startsWith("-") },
  };
  const errors: Record<string, string[]> = {};
  if (wanted.statuses.some((name) => !known.includes(name)))
    errors[statusParameter] = [
      known.length === 0
        ? "This list has no statuses to filter by."
        : `The ${statusParameter} field must be one or more of ${known.join(", ")}, separated by commas.`,
    ];
  if (search.length > maxSearchText)
    errors["search"] = [`The search field must not be longer than ${maxSearchText} characters.`];
  else if (!isStorableText(search))
    errors["search"] = ["The search field contains a character that cannot be stored."];
  if (wanted.sort !== null && !sorts.includes(wanted.sort.name))
    errors["sort"] = [
      `The sort field must be one of ${sorts.join(", ")}, with “-” before it for descending order.`,
    ];
  if (Object.keys(errors).length > 0) throw new InvalidFields(errors);
  return status === "" && search === "" && sort === "" ? null : wanted;
}
