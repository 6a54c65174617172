// The service's backups of itself: whether the newest one was made, and its restore tried.
import type { Diagnosis } from "../../contract/doctor.ts";
import { readRecord } from "../self-backup/record.ts";
import type { Database } from "../store/database.ts";
import { failed, ok, warning } from "./finding.ts";

const name = "Self-backup";
/** A night and what it may take. */
const longestMs = 30 * 3600 * 1000;

export async function checkSelfBackup(db: Database, nowMs: number): Promise<Diagnosis> {
  const { last_good_at: good, failure } = await readRecord(db);
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
      "Wait for the night, or run backup-self.",
    );
  if (nowMs - Date.parse(good) > longestMs)
    return failed(
      name,
      `Quarterdeck has not backed itself up last night. ${last}`,
      "Check that the service runs, with QUARTERDECK_SELF_BACKUP set.",
    );
  return ok(name, `Quarterdeck backed itself up at ${good}, and tried its restore.`);
}
