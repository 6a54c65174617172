/**
 * Returns what was caught as an Error, because anything can be thrown. Only errors of system calls have `code`, `syscall` and
 * `path`.
 */
export const toError = (caught: unknown): NodeJS.ErrnoException =>
  caught instanceof Error ? caught : new Error(String(caught));
