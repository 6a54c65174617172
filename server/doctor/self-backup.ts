// Checks the service's backups of itself: whether the newest one was made, and its restore tested.
import type { Diagnosis } from "../../contract/doctor.ts";
import { judge, readRecord } from "../self-backup/record.ts";
import type { Database } from "../store/database.ts";
import { failed, ok, warning } from "./finding.ts";

const name = "Self-backup";

/** Result for an installation that does not back itself up; it may be backed up in another way. */
export const noSelfBackup = warning(
  name,
  "Quarterdeck does not back itself up: its history, settings and inventory are on this machine alone.",
  "Set QUARTERDECK_SELF_BACKUP to the id of a storage provider, best on another machine.",
);

export async function checkSelfBackup(db: Database, nowMs: number): Promise<Diagnosis> {
  const { state, last_good_at: good, failure } = judge(await readRecord(db), nowMs);
  const last = good === null ? "There is no good one." : `The last good one is of ${good}.`;
  if (failure !== null)
    return failed(
      name,
      `The backup of Quarterdeck itself at ${failure.at} failed: ${failure.reason} ${last}`,
      null,
    );
  if (good === null)
    return warning(
      name,
      "Quarterdeck has not backed itself up yet.",
      "The service does so soon after its start, and then each night. Check that it runs with QUARTERDECK_SELF_BACKUP set.",
    );
  if (state === "overdue")
    return warning(
      name,
      `Quarterdeck has not backed itself up for more than two days. ${last}`,
      "Check that the service runs, with QUARTERDECK_SELF_BACKUP set.",
    );
  return ok(name, `Quarterdeck backed itself up at ${good}, and tried its restore.`);
}
