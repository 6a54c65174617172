// Handles, at a start of the service, the processes of its earlier run: adopts those of each worker, starts missing ones, and
// ends those that belong to no worker.
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type { Program, Resumed } from "../processes/process-manager.ts";
import { awaitsProcess, findProcess } from "./adoption.ts";
import type { Marks } from "./marks.ts";
import { bootId, hasGroup, isAlive, type MarkedProcess } from "./process-table.ts";
import type { Slot } from "./slot.ts";
import type { WorkerSystem } from "./worker-system.ts";

/** How long a process may take to show its mark when the service was killed in the middle of its start. */
const startLagMs = 500;

type TakeOverOptions = {
  marks: Marks;
  /** Called before a worker's slots are resumed; resumes an interrupted change of settings. */
  beginChange(resumed: Resumed): void;
  slotOf(program: Program, number: number): Slot;
  systemOf(program: Program): Pick<WorkerSystem, "recordedNumbers" | "recordOf">;
  /** Called once a worker's slots are resumed. */
  onTaken(program: Program): void;
  /** Ends the processes found, until none is left. */
  sweepAway(find: () => MarkedProcess[]): Promise<void>;
  isReleased(): boolean;
  clock: Clock;
  log: Log;
};

export async function takeOver(
  programs: readonly Resumed[],
  options: TakeOverOptions,
): Promise<void> {
  const { marks, sweepAway, log } = options;
  const found = await findMarks(
    programs.map(({ program }) => program),
    options,
  );
  if (options.isReleased()) return;
  for (const resumed of programs) {
    try {
      takeOverWorker(resumed, found, options);
    } catch (error) {
      log.error({ err: error, worker: resumed.program.id }, "a worker could not be taken up");
    }
  }
  const claimed = new Set(programs.map(({ program }) => program.id));
  const strays = new Set(
    found.filter(({ worker }) => !claimed.has(worker)).map(({ worker }) => worker),
  );
  if (strays.size === 0) return;
  log.warn({ workers: [...strays] }, "ending processes of workers that are no more");
  void sweepAway(() => marks.all().filter(({ worker }) => strays.has(worker)));
}

/** Scans twice where a process may have been forked, but not have its mark yet. */
async function findMarks(
  programs: readonly Program[],
  { marks, systemOf, clock }: TakeOverOptions,
): Promise<MarkedProcess[]> {
  for (const program of programs) marks.noteAccount(program);
  const found = marks.all();
  const boot = bootId();
  const isMissing = programs.some((program) => {
    const system = systemOf(program);
    return system.recordedNumbers().some((number) => {
      const record = system.recordOf(number);
      return awaitsProcess(record, boot) && !found.some(({ nonce }) => nonce === record.nonce);
    });
  });
  if (!isMissing) return found;
  await new Promise<void>((resolve) => {
    clock.after(startLagMs, resolve);
  });
  return marks.all();
}

function takeOverWorker(
  resumed: Resumed,
  all: readonly MarkedProcess[],
  { marks, beginChange, slotOf, systemOf, onTaken, sweepAway, log }: TakeOverOptions,
): void {
  const { program, up, restartOrder = null, previous } = resumed;
  beginChange(resumed);
  const system = systemOf(program);
  const ofWorker = all.filter((mark) => mark.worker === program.id);
  // The change itself starts additional processes and ends surplus ones.
  const before = previous ?? program;
  const most = Math.max(program.processes, before.processes);
  const asked = Array.from({ length: before.processes }, (_, index) => index + 1);
  // The processes that the worker should have, and those with a record or a living process.
  const numbers = [...asked, ...system.recordedNumbers(), ...ofWorker.map(({ number }) => number)];
  const extra = [...new Set(numbers)].flatMap((number) => {
    const record = system.recordOf(number);
    const finding = findProcess(
      record,
      ofWorker.filter((mark) => mark.number === number),
      { boot: bootId(), isAlive, hasGroup },
    );
    const slot = slotOf(program, number);
    slot.resume(record, finding.found, up && number <= most);
    if (up && restartOrder !== null && slot.isOlderThan(restartOrder)) void slot.restart();
    return finding.extra;
  });
  onTaken(program);
  if (extra.length === 0) return;
  const nonces = new Set(extra.map(({ nonce }) => nonce));
  log.warn({ worker: program.id, pids: extra.map(({ pid }) => pid) }, "ending extra processes");
  void sweepAway(() => marks.of(program.id).filter(({ nonce }) => nonces.has(nonce)));
}
