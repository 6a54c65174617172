// Starts backups and restores of a service, and waits for them.
import { setTimeout as wait } from "node:timers/promises";
import type { Backup, BackupConfiguration } from "../contract/backups/backup.ts";
import type { ServiceProcess } from "../server/testing/service-process.ts";

export async function install(
  service: ServiceProcess,
  type: "database" | "site",
  targetId: number,
  {
    provider = 1,
    hold = 1,
    incremental = false,
  }: { provider?: number; hold?: number; incremental?: boolean } = {},
): Promise<BackupConfiguration> {
  const made = await service.call("POST", `/api/server/1/backup-configuration`, {
    name: `${type} ${targetId}`,
    frequency: "0 0 1 1 *",
    hold,
    incremental,
    storage_provider_id: provider,
    backupable_type: type,
    backupable_id: targetId,
  });
  const { id }: BackupConfiguration = await made.json();
  return until<BackupConfiguration>(
    service,
    `/api/backup-configuration/${id}`,
    ({ status }) => status === "installed",
  );
}

/** `tookMs` is the time from the request to the end that the service stored. */
type Done = { backup: Backup; tookMs: number };

/** @param work name of the work; equal names take about equally long */
export async function takeBackup(
  service: ServiceProcess,
  configurationId: number,
  work = `backup ${configurationId}`,
): Promise<Done> {
  const asked = await service.call("POST", `/api/backup/${configurationId}`);
  const { id }: Backup = await asked.json();
  return untilDone(service, `/api/backup/${id}`, work, ({ status, output, ended_at }) => {
    if (status === "failed") throw new Error(output);
    return status === "finished" ? ended_at : null;
  });
}

/**
 * Restores without a safety backup.
 * @param identity private key that decrypts the backup
 */
export async function restore(
  service: ServiceProcess,
  backupId: number,
  identity?: string,
): Promise<Done> {
  const asked = await service.call("PUT", `/api/backup/${backupId}`, {
    skip_safety_backup: true,
    ...(identity !== undefined && { identity }),
  });
  if (!asked.ok) throw new Error(await asked.text());
  const path = `/api/backup/${backupId}`;
  const work = `restore ${backupId}`;
  return untilDone(service, path, work, ({ restore_status, restore_output, restored_at }) => {
    if (restore_status === "failed") throw new Error(restore_output ?? "");
    return restore_status === "finished" ? restored_at : null;
  });
}

/** Shortest duration of each kind of work so far, as reported by the service. */
const leastMs = new Map<string, number>();

/**
 * Polls often enough for a precision of a few thousandths, but rarely enough not to distort the measurement: a response
 * takes the service 2 ms of CPU time, so polling begins after 95 % of the shortest duration of the same work.
 * @param work name of the work
 * @param endOf returns when the work ended, by a response; null until then
 */
async function untilDone(
  service: ServiceProcess,
  path: string,
  work: string,
  endOf: (answer: Backup) => string | null,
): Promise<Done> {
  const startedMs = Date.now();
  const least = leastMs.get(work);
  await wait((least ?? 0) * 0.95);
  const backup = await until<Backup>(
    service,
    path,
    (found) => endOf(found) !== null,
    least === undefined ? 20 : Math.max(least / 400, 5),
  );
  const tookMs = Date.parse(endOf(backup) ?? "") - startedMs;
  leastMs.set(work, Math.min(tookMs, least ?? Infinity));
  return { backup, tookMs };
}

/** @param leastPauseMs minimum between two polls; it grows with the elapsed time */
async function until<Answer>(
  service: ServiceProcess,
  path: string,
  isThere: (answer: Answer) => boolean,
  leastPauseMs = 20,
): Promise<Answer> {
  const startedMs = performance.now();
  for (;;) {
    const answer: Answer = await (await service.call("GET", path)).json();
    if (isThere(answer)) return answer;
    await wait(Math.max(leastPauseMs, (performance.now() - startedMs) / 50));
  }
}
