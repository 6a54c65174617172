// Says how a program ended that gave no reason, for messages.
import { constants } from "node:os";
import type { CommandEnd } from "./host.ts";

/** A shell reports a program that a signal ended by this number plus the signal's. */
export const signalCodes = 128;
/** Exit code of a program that SIGPIPE ended, because its output was closed. */
export const brokenPipeCode = signalCodes + constants.signals.SIGPIPE;
const killedCode = signalCodes + constants.signals.SIGKILL;

/** Whether it was killed, as the kernel does where memory is short. */
export const isKilled = ({ exitCode, signal }: Pick<CommandEnd, "exitCode" | "signal">): boolean =>
  signal === "SIGKILL" || exitCode === killedCode;

/** @returns the rest of a sentence that begins with the program */
export const endInWords = (end: Pick<CommandEnd, "exitCode" | "signal">): string =>
  isKilled(end)
    ? "was killed, probably because the machine ran out of memory. Free some memory there, then try again."
    : `ended with ${end.signal ?? `exit code ${end.exitCode}`}.`;
