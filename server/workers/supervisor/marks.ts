// Finds the living processes of a worker: those with its mark that run as its account, or that are in its control group.
import type { Clock } from "../../clock.ts";
import type { Program } from "../processes/process-manager.ts";
import type { ControlGroups } from "./control-groups.ts";
import { createMarkScanner, type MarkedProcess, markedProcesses } from "./process-table.ts";

export type Marks = ReturnType<typeof createMarks>;

export function createMarks(instance: string, groups: ControlGroups, clock: Clock) {
  /** Uids that each worker runs as, or did before its account changed. Any other account's process may have a forged mark. */
  const uids = new Map<number, Set<number>>();
  const scan = createMarkScanner(instance, groups, clock);
  const isGenuine = ({ worker, uid, isEnclosed }: MarkedProcess): boolean =>
    isEnclosed || (uids.get(worker)?.has(uid) ?? true);
  const all = () => markedProcesses(instance, groups).filter(isGenuine);

  return {
    /** To be called before the worker's processes are searched for. */
    noteAccount({ id, account }: Program) {
      if ("uid" in account) uids.set(id, (uids.get(id) ?? new Set()).add(account.uid));
    },
    all,
    of: (id: number): MarkedProcess[] => all().filter(({ worker }) => worker === id),
    /** The same as `of`, with one scan for simultaneous callers; rejects where /proc cannot be read now. */
    find: async (id: number): Promise<MarkedProcess[]> =>
      ((await scan()).get(id) ?? []).filter(isGenuine),
  };
}
