// Why a worker failed: a sentence, followed by the last lines of its log.

const tailTitle = "Last lines of the log:";

/** @param tail empty where the log has no lines */
export const withLogTail = (reason: string, tail: string): string =>
  tail === "" ? reason : `${reason}\n${tailTitle}\n${tail}`;

/** @returns `logTail` null where the text has no log, as from another service */
export function partReason(text: string): { reason: string; logTail: string | null } {
  const [reason = "", ...tail] = text.split(`\n${tailTitle}\n`);
  return { reason, logTail: tail.length === 0 ? null : tail.join(`\n${tailTitle}\n`) };
}
