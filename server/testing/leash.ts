/**
 * A program as one that the kernel signals when the process that started it is gone, however that ended.
 * @returns the program to spawn and its arguments
 */
export const leashed = (
  signal: "INT" | "KILL" | "QUIT",
  program: string,
  args: readonly string[],
): [string, readonly string[]] =>
  process.platform === "linux"
    ? ["setpriv", ["--pdeathsig", signal, "--", program, ...args]]
    : [program, args];
