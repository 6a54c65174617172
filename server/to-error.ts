/**
 * What was caught, as an error: anything can be thrown. An error of a system call has its `code`, `syscall` and `path`; they are undefined on
 * every other one.
 */
export const toError = (caught: unknown): NodeJS.ErrnoException =>
  caught instanceof Error ? caught : new Error(String(caught));
