// What a slot writes down about itself, so that the next start of the service finds its process again.
// Not fsynced: it has to outlive the service, and what ends the machine ends the processes as well.
import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { processStates, type ProcessState } from "../../../contract/workers/worker.ts";
import type { Outage } from "../process-manager.ts";
import { toError } from "../../to-error.ts";

export type RunRecord = {
  /** The boot that `startTime` belongs to. */
  boot: string;
  /** Of the newest start. It is written before the process exists, and `pid` after. */
  nonce: string;
  pid: number | null;
  startTime: string | null;
  state: ProcessState;
  /** Milliseconds since 1970. */
  since: number;
  exitCode: number | null;
  restarts: number;
  /** Starts in a row that failed. */
  failures: number;
  /** What the process was started for, see `Program`; null in records of earlier versions. */
  order: number | null;
  /** The deployment that the newest start carries; records of earlier versions lack this and the next. */
  deployment?: number | null;
  /** The settings that it was started with; left out by earlier versions, which could not change them. */
  settings?: number;
  outages?: readonly Outage[];
};

/** Every record fills the same space, so that it can be overwritten where there is none left. */
const sizeBytes = 1024;

/** Atomic; throws what the file system throws. */
export function writeRunFile(path: string, record: RunRecord): void {
  const text = JSON.stringify(record).padEnd(sizeBytes);
  const temporary = `${path}.new`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    // A full disk must not keep workers from coming back. The old record has its place on the disk
    // already, and one small write into it is not torn by a kill of this process.
    overwrite(path, text, error);
  }
}

function overwrite(path: string, text: string, first: unknown): void {
  const { code } = toError(first);
  if (code !== "ENOSPC" && code !== "EDQUOT") throw first;
  let file: number;
  try {
    file = openSync(path, "r+");
  } catch {
    throw first; // there is no old record
  }
  try {
    writeSync(file, text, 0);
  } finally {
    closeSync(file);
  }
}

/** @returns null where there is no record, or none that can be understood */
export function readRunFile(path: string): RunRecord | null {
  try {
    const record: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRunRecord(record) ? { ...record, order: record.order ?? null } : null;
  } catch {
    return null;
  }
}

/** 0 and 1 name no process of ours: a signal to the group 0 or 1 would reach the service itself, or everybody. */
const isPid = (value: unknown) => typeof value === "number" && Number.isInteger(value) && value > 1;

const isNumberOrNull = (value: unknown) => value === null || typeof value === "number";

function isRunRecord(value: unknown): value is RunRecord {
  if (typeof value !== "object" || value === null) return false;
  const record: Partial<Record<keyof RunRecord, unknown>> = value;
  return (
    typeof record.boot === "string" &&
    typeof record.nonce === "string" &&
    (record.pid === null || isPid(record.pid)) &&
    (record.startTime === null || typeof record.startTime === "string") &&
    processStates.some((state) => state === record.state) &&
    typeof record.since === "number" &&
    isNumberOrNull(record.exitCode) &&
    typeof record.restarts === "number" &&
    typeof record.failures === "number" &&
    (record.order === undefined || isNumberOrNull(record.order)) &&
    (record.deployment === undefined || isNumberOrNull(record.deployment)) &&
    (record.settings === undefined || typeof record.settings === "number") &&
    (record.outages === undefined ||
      (Array.isArray(record.outages) && record.outages.every(isOutage)))
  );
}

function isOutage(value: unknown): value is Outage {
  if (typeof value !== "object" || value === null) return false;
  const { at, backAt }: Partial<Record<keyof Outage, unknown>> = value;
  return typeof at === "number" && isNumberOrNull(backAt);
}
