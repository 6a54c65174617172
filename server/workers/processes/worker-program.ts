// Builds the program of a worker for the process manager, from its row and its site.
import { workerArguments } from "../../../contract/workers/command.ts";
import type { Account } from "../../hosts/account.ts";
import type { SiteRow } from "../../inventory/store.ts";
import type { Program } from "./process-manager.ts";
import type { WorkerRow } from "../store.ts";

/** @param site null where the inventory no longer lists it; the program cannot be started then */
export const programOf = (row: WorkerRow, site: SiteRow | null): Program => ({
  id: row.id,
  args: workerArguments(site?.artisan ?? [], row),
  root: site?.root ?? "/",
  directory: row.directory,
  account: accountOf(site),
  processes: row.processes,
  startsecs: row.startsecs,
  startretries: row.startretries,
  stopwaitsecs: row.stopwaitsecs,
  stopsignal: row.stopsignal,
  stopasgroup: row.stopasgroup,
  order: row.transition,
  settings: row.settings_version,
  maxJobs: row.max_jobs,
  maxTime: row.max_time,
  deployment: row.deployment_id,
  requiredDeployment: row.required_deployment_id,
});

/** @returns what processes ran before the change that is being rolled out; null = none is */
export const previousProgramOf = (row: WorkerRow, site: SiteRow | null): Program | null =>
  row.changed_from &&
  programOf(
    { ...row, ...row.changed_from.settings, settings_version: row.changed_from.version },
    site,
  );

export function accountOf(site: SiteRow | null): Account | { problem: string } {
  if (site === null) return { problem: "The site is no longer in the inventory." };
  const { account, problem } = site.account;
  return account ?? { problem: problem ?? "The site has no account." };
}
