// Parses supervisord's list of processes, and selects those of this installation.
import * as z from "zod/mini";
import { processStates, type ProcessState } from "../../../contract/workers/worker.ts";
import type { Names } from "./program-file.ts";
import type { RpcValue } from "./xml-rpc.ts";

export type Observed = {
  state: ProcessState;
  pid: number | null;
  /** Time of the newest start, in seconds of the server's clock; 0 = never started. */
  start: number;
  /** The same by the clock of this machine, to within a second. Milliseconds since 1970. */
  startedAtMs: number;
  /** Time of the newest end, in seconds of the server's clock; 0 = it never ended. */
  stop: number;
  /** Exit code of the run that has just ended; null = a signal ended it, or another run has begun. */
  exitCode: number | null;
  /** Why the process could not be started or did not stay up; empty where that is unknown. */
  spawnError: string;
};

const info = z.object({
  group: z.string(),
  statename: z.string(),
  pid: z.int(),
  start: z.int(),
  stop: z.int(),
  exitstatus: z.int(),
  now: z.int(),
  spawnerr: z.string(),
});

const stateOf = (name: string): ProcessState =>
  // UNKNOWN is an internal error of supervisord; only another start helps.
  processStates.find((state) => state === name) ?? "FATAL";

/** Matches the parts of the response that change every second, and have no information that other parts lack. */
export const passing = /<name>(?:now|description)<\/name>\s*<value>[^]*?<\/value>/g;

/**
 * @param answer the response to `getAllProcessInfo`
 * @returns the processes of this installation by the name of their group, which each have alone
 */
export function readProcesses(
  answer: RpcValue,
  names: Names,
  nowMs: number,
): Map<string, Observed> {
  const found = new Map<string, Observed>();
  for (const item of Array.isArray(answer) ? answer : []) {
    const { success, data } = info.safeParse(item);
    if (!success || names.parseGroup(data.group) === null) continue;
    found.set(data.group, {
      state: stateOf(data.statename),
      pid: data.pid === 0 ? null : data.pid,
      start: data.start,
      startedAtMs: data.start === 0 ? 0 : nowMs - (data.now - data.start) * 1000,
      stop: data.stop,
      exitCode: data.statename === "EXITED" && data.exitstatus >= 0 ? data.exitstatus : null,
      spawnError: data.spawnerr,
    });
  }
  return found;
}
