// Which living processes are a worker's: those that bear its mark and run as it does, or that its control group encloses.
import type { Clock } from "../../clock.ts";
import type { Program } from "../process-manager.ts";
import type { ControlGroups } from "./control-groups.ts";
import { createMarkScanner, type MarkedProcess, markedProcesses } from "./process-table.ts";

export type Marks = ReturnType<typeof createMarks>;

export function createMarks(instance: string, groups: ControlGroups, clock: Clock) {
  /** Whom each worker runs as, or did before its account changed; a process of anybody else only says that it is the worker's. */
  const uids = new Map<number, Set<number>>();
  const scan = createMarkScanner(instance, groups, clock);
  const isGenuine = ({ worker, uid, isEnclosed }: MarkedProcess): boolean =>
    isEnclosed || (uids.get(worker)?.has(uid) ?? true);
  const all = () => markedProcesses(instance, groups).filter(isGenuine);

  return {
    /** Before anything is looked for that may be the worker's. */
    noteAccount({ id, account }: Program) {
      if ("uid" in account) uids.set(id, (uids.get(id) ?? new Set()).add(account.uid));
    },
    all,
    of: (id: number): MarkedProcess[] => all().filter(({ worker }) => worker === id),
    /** As `of`, in one look for all who ask in the same moment; rejects where nothing can be seen now. */
    find: async (id: number): Promise<MarkedProcess[]> =>
      ((await scan()).get(id) ?? []).filter(isGenuine),
  };
}
