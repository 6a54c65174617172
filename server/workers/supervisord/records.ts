// Stores the records of a worker's processes for the next start of the service, e.g. the order that each was started for, which
// supervisord does not have.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { processStates } from "../../../contract/workers/worker.ts";

const slotRecord = z.object({
  pid: z.nullable(z.int()),
  /** See `Observed`. */
  start: z.int(),
  sinceMs: z.number(),
  state: z.enum(processStates),
  reason: z.nullable(z.string()),
  exitCode: z.nullable(z.int()),
  restarts: z.int(),
  deployment: z.nullable(z.int()),
  settings: z.int(),
  order: z.nullable(z.int()),
  outages: z.array(z.object({ at: z.number(), backAt: z.nullable(z.number()) })),
});
export type SlotRecord = z.infer<typeof slotRecord>;

const workerRecord = z.record(z.string(), slotRecord);

const pathIn = (folder: string) => join(folder, "slots.json");

/** @returns the records by number of the process; none where the text has another format */
export function parseRecords(text: string): Map<number, SlotRecord> {
  try {
    const records = Object.entries(workerRecord.parse(JSON.parse(text)));
    return new Map(records.map(([number, record]) => [Number(number), record]));
  } catch {
    return new Map();
  }
}

/** @returns the records by number of the process; none where there is no readable file */
export function readRecords(folder: string): Map<number, SlotRecord> {
  try {
    return parseRecords(readFileSync(pathIn(folder), "utf8"));
  } catch {
    return new Map();
  }
}

/** Writes atomically. @throws the file system's error */
export function writeRecords(folder: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = pathIn(folder);
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export const recordsText = (records: Iterable<readonly [number, SlotRecord]>): string =>
  JSON.stringify(Object.fromEntries(records));
