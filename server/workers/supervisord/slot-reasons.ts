// Formats for operators why a process that supervisord keeps up is in its state.
import type { Program } from "../processes/process-manager.ts";
import { exitCause, giveUpReason, sentence, startCause } from "../supervisor/reasons.ts";
import type { ProcessExit } from "./exits.ts";
import type { Observed } from "./observed.ts";

export const stoppedByOthers =
  "Stopped on the server, not by Quarterdeck. Start the worker to bring it up again.";
export const removedByOthers =
  "Removed from supervisord on the server, not by Quarterdeck. Start the worker to add it again.";

type Run = {
  spawnError: Observed["spawnError"];
  exit: ProcessExit;
  /** The program that the run was started with. */
  program: Pick<Program, "startsecs" | "startretries">;
};

/** Whether supervisord could not even create a process. */
export const isUnstartable = (spawnError: string): boolean =>
  spawnError !== "" && !/^(?:Exited too quickly|Bad exit code)/.test(spawnError);

/** Returns why a run ended. @param within the start seconds that it did not outlive; null = it did */
function causeOf({ spawnError, exit }: Run, within: number | null): string {
  if (exit.unstarted !== undefined) return startCause(exit.unstarted);
  return isUnstartable(spawnError)
    ? startCause(spawnError)
    : exitCause(exit.code, exit.signal, within);
}

/** Reason for a run that was up and ended by itself. */
export const exitReason = (run: Run): string => sentence(causeOf(run, null));
/** Reason for a start that failed and is retried. */
export const failedStartReason = (run: Run): string =>
  sentence(causeOf(run, run.program.startsecs));
/** Reason for a process that was given up after its last retry. */
export const fatalReason = (run: Run): string =>
  giveUpReason(causeOf(run, run.program.startsecs), run.program.startretries + 1, true);
