/**
 * Wraps a program so that, on Linux, the kernel signals it when its parent process has ended for any reason.
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
