// A slot's record on disk, by which the next start of the service finds its process. It is not fsynced: what ends the machine
// ends the process as well.
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
import type { Outage } from "../processes/process-manager.ts";
import { toError } from "../../to-error.ts";

export type RunRecord = {
  /** Id of the boot that `startTime` counts from. */
  boot: string;
  /** Nonce of the newest start, written before the process exists; `pid` follows after. */
  nonce: string;
  pid: number | null;
  startTime: string | null;
  state: ProcessState;
  /** Milliseconds since 1970. */
  since: number;
  exitCode: number | null;
  restarts: number;
  /** Failed starts in a row. */
  failures: number;
  /** The order that the process was started for, see `Program`; null in records of earlier versions. */
  order: number | null;
  /** The deployment that the newest start carries; records of earlier versions lack this and the next. */
  deployment?: number | null;
  /** The settings that it was started with; left out by earlier versions, which could not change them. */
  settings?: number;
  outages?: readonly Outage[];
};

/** All records have the same size, so that they can be overwritten on a full disk. */
const sizeBytes = 1024;

/**
 * Writes atomically.
 * @throws the file system's error
 */
export function writeRunFile(path: string, record: RunRecord): void {
  const text = JSON.stringify(record).padEnd(sizeBytes);
  const temporary = `${path}.new`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    // A full disk must not keep workers from starting. The old record has its blocks already, and one small write is not torn by
    // a kill.
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

/** @returns null where there is no readable record */
export function readRunFile(path: string): RunRecord | null {
  try {
    const record: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRunRecord(record) ? { ...record, order: record.order ?? null } : null;
  } catch {
    return null;
  }
}

/** 0 and 1 are never pids of workers: signaling the groups 0 or 1 would reach the service itself, or every process. */
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
