// Polls a supervisord once and takes the steps that follow. The order for a new program is: write file, `reloadConfig`,
// `addProcessGroup`; for a removed one: stop, `removeProcessGroup`, write file, `reloadConfig`. Never `update`, which restarts
// programs that others changed: https://github.com/Supervisor/supervisor/issues/1411.
import type { Log } from "../../log.ts";
import { messageOf } from "../../loggable-error.ts";
import { startCause } from "../supervisor/reasons.ts";
import type { Connected } from "./contact.ts";
import { readExits, unknownExit } from "./exits.ts";
import type { Machine } from "./machine.ts";
import { type Observed, readProcesses } from "./observed.ts";
import type { Names } from "./program-file.ts";
import { createProgramFiles } from "./program-files.ts";
import { isAway, type Rpc } from "./rpc.ts";
import type { Slot } from "./slot.ts";
import { takeStep } from "./take-step.ts";
import type { SupervisordWorker } from "./worker.ts";
import { RpcFault, type RpcValue } from "./xml-rpc.ts";

/** Most steps of a process in one turn, e.g. a stop and what follows it; others are for the next turn. */
const maxRounds = 4;
/** How long the result of a `reloadConfig` is reused: with hundreds of programs, it blocks supervisord for a second. */
const readingMs = 2000;

type TurnOptions = {
  names: Names;
  machine: Machine;
  workers: ReadonlyMap<number, SupervisordWorker>;
  log: Log;
  nowMs(): number;
  /** Interval at which the program files are compared with what was written. */
  compareMs: number;
  /** Once aborted, no further step is taken, because another instance may look after the workers then. */
  released: AbortSignal;
};

export function createTurn(options: TurnOptions) {
  const { names, machine, workers, log, nowMs, compareMs, released } = options;
  const files = createProgramFiles({ names, machine, workers });
  let comparedAtMs = 0;
  /** Why the last `reloadConfig` failed; null = it succeeded. */
  let lastReading: { atMs: number; why: string | null } = { atMs: -Infinity, why: null };
  /** The last error of each worker and part of the turn. */
  const troubles = new Map<string, string>();
  let last: { answer: RpcValue; seen: ReadonlyMap<string, Observed> } | null = null;

  const groupOf = ({ id }: SupervisordWorker, { number }: Slot) => names.groupOf(id, number);
  const reachOf = ({ rpc }: Connected) => ({ rpc, machine });

  /** Polls supervisord. @returns the programs of this installation that belong to no known slot */
  async function observe({ rpc, installed }: Connected): Promise<Map<string, Observed>> {
    for (const { slots } of workers.values()) for (const slot of slots.values()) slot.looks();
    const answer = await rpc("getAllProcessInfo");
    if (answer !== last?.answer) last = { answer, seen: readProcesses(answer, names, nowMs()) };
    const seen = new Map(last.seen);
    const all = [...workers.values()].flatMap((worker) =>
      [...worker.slots.values()].map((slot) => ({
        slot,
        name: groupOf(worker, slot),
        log: names.logOf(installed.logFolder, worker.id, slot.number),
      })),
    );
    const ended = all.flatMap(({ slot, ...one }) => {
      const its = seen.get(one.name);
      return its !== undefined && slot.hasEnded(its) ? [{ ...one, seen: its }] : [];
    });
    const exits = ended.length > 0 ? await readExits({ rpc, machine }, ended) : null;
    for (const { slot, name } of all) {
      const one = seen.get(name) ?? null;
      const isOfInterest = one !== null && slot.hasEnded(one);
      slot.observe(one, isOfInterest ? (exits?.get(name) ?? unknownExit) : null);
      seen.delete(name);
    }
    return seen;
  }

  /** Ends programs without a worker, which a killed service or a deleted worker has left behind. */
  async function endStrays(rpc: Rpc, strays: ReadonlyMap<string, Observed>): Promise<void> {
    for (const [name, { state }] of strays) {
      log.warn({ program: name, state }, "ending a program of a worker that is no more");
      const isStopped = state === "STOPPED" || state === "FATAL" || state === "EXITED";
      try {
        if (isStopped) await rpc("removeProcessGroup", name);
        else if (state !== "STOPPING") await rpc("stopProcess", name, false);
      } catch (error) {
        if (!(error instanceof RpcFault)) throw error; // a fault is ignored: the next poll handles the program again
      }
    }
  }

  async function add(connected: Connected, worker: SupervisordWorker, slots: readonly Slot[]) {
    const added: Slot[] = [];
    for (const slot of slots) {
      const target = slot.target();
      if (typeof target === "string") {
        slot.setSection(target);
        added.push(slot);
      } else slot.refuse(startCause(target.problem));
    }
    if (added.length === 0) return;
    try {
      await files.write(connected, worker, true);
      for (const slot of added)
        await takeStep(reachOf(connected), groupOf(worker, slot), slot, { kind: "addGroup" });
    } catch (error) {
      if (isAway(error)) throw error;
      for (const slot of added) {
        slot.setSection(null);
        slot.refuse(`${startCause(refusal(error))}.`);
      }
    }
  }

  /** @returns why supervisord cannot read its configuration; null = it can */
  async function whyUnreadable(rpc: Rpc): Promise<string | null> {
    if (nowMs() - lastReading.atMs < readingMs) return lastReading.why;
    let why: string | null = null;
    try {
      await rpc("reloadConfig");
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      why = refusal(error);
    }
    lastReading = { atMs: nowMs(), why };
    return why;
  }

  /** @returns why the successor of a replaced process could not be started; null = it could */
  async function whyNotReady(connected: Connected, worker: SupervisordWorker) {
    const why = await whyUnreadable(connected.rpc);
    if (why !== null) return why;
    try {
      await files.rewrite(connected, worker);
      return null;
    } catch (error) {
      if (isAway(error)) throw error;
      return refusal(error);
    }
  }

  /** @returns whether a step was taken */
  async function step(connected: Connected, worker: SupervisordWorker): Promise<boolean> {
    const all = [...worker.slots.values()].flatMap((slot) => {
      const next = slot.nextStep();
      return next === null ? [] : [{ slot, next }];
    });
    // A process stays up while its successor could not be started.
    const isToBeRead = all.some(({ slot, next }) => slot.needsReading(next));
    const why = isToBeRead ? await whyNotReady(connected, worker) : null;
    worker.delayNotice = why && `${why}. The processes go on as they are meanwhile.`;
    const steps = why === null ? all : all.filter(({ slot, next }) => !slot.needsReading(next));
    const additions = steps.filter(({ next }) => next.kind === "addGroup").map(({ slot }) => slot);
    let isAnyTaken = additions.length > 0;
    for (const { slot, next } of steps) {
      if (next.kind === "addGroup") continue;
      if (await takeStep(reachOf(connected), groupOf(worker, slot), slot, next)) isAnyTaken = true;
    }
    await add(connected, worker, additions);
    return isAnyTaken;
  }

  /** Removes sections that no process needs from the file, and deletes the files of a removed worker. @returns whether it did the latter */
  async function tidy(connected: Connected, worker: SupervisordWorker): Promise<boolean> {
    const slots = [...worker.slots.values()];
    const isNeeded = worker.fileNotice === null || worker.isFileDue || worker.removed !== null;
    if (isNeeded && slots.every((slot) => slot.isSettled())) await files.write(connected, worker);
    if (worker.removed === null || slots.some((slot) => slot.isThere())) return false;
    await files.clean(connected.installed, worker.id);
    worker.removed();
    return true;
  }

  /** Runs one part of a worker's turn. Its error does not affect other workers, and is logged once for all retries. */
  async function attempt(
    worker: SupervisordWorker,
    what: "step" | "tidying",
    run: () => Promise<boolean>,
  ): Promise<boolean> {
    if (released.aborted) return false;
    const { id } = worker;
    const key = `${id} ${what}`;
    try {
      const result = await run();
      troubles.delete(key);
      if (what === "tidying") worker.tidyingNotice = null;
      return result;
    } catch (error) {
      if (isAway(error)) throw error;
      const problem = messageOf(error);
      if (troubles.get(key) !== problem)
        log.warn({ err: error, worker: id }, `a worker's ${what} failed, is tried again`);
      troubles.set(key, problem);
      if (what === "tidying") worker.tidyingNotice = `${refusal(error)}. Quarterdeck tries again.`;
      return false;
    }
  }

  async function takeSteps(connected: Connected): Promise<void> {
    for (let round = 0; round < maxRounds; round += 1) {
      let isAnyTaken = false;
      for (const worker of workers.values())
        if (await attempt(worker, "step", () => step(connected, worker))) isAnyTaken = true;
      if (!isAnyTaken) return;
      await endStrays(connected.rpc, await observe(connected));
    }
  }

  /** @returns whether a state is expected to change, so that the next poll should be soon. @throws SupervisordAway */
  return async (connected: Connected, isFirst: boolean): Promise<boolean> => {
    if (isFirst || nowMs() - comparedAtMs >= compareMs) {
      comparedAtMs = nowMs();
      await files.compare(connected, isFirst);
    }
    const strays = await observe(connected);
    await endStrays(connected.rpc, strays);
    await takeSteps(connected);
    for (const worker of workers.values())
      await attempt(worker, "tidying", () => tidy(connected, worker));
    return (
      strays.size > 0 ||
      [...workers.values()].some(({ slots }) => slots.values().some((slot) => slot.isBusy()))
    );
  };
}

/** Returns an error of supervisord as a sentence without its full stop. */
function refusal(error: unknown): string {
  const told = messageOf(error)
    .replaceAll(/\s*\n\s*/g, " ")
    .replace(/\.$/, "");
  return error instanceof RpcFault && told.startsWith("CANT_REREAD")
    ? `supervisord cannot read its configuration: ${told.replace(/^\w+: /, "")}`
    : told;
}
