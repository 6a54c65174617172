// Why a worker failed: a sentence, and below it what its log said last.

const tailTitle = "Last lines of the log:";

/** @param tail empty where the log says nothing */
export const withLogTail = (reason: string, tail: string): string =>
  tail === "" ? reason : `${reason}\n${tailTitle}\n${tail}`;

/** @returns `logTail` null where the text has none, as that of another service */
export function partReason(text: string): { reason: string; logTail: string | null } {
  const [reason = "", ...tail] = text.split(`\n${tailTitle}\n`);
  return { reason, logTail: tail.length === 0 ? null : tail.join(`\n${tailTitle}\n`) };
}
