// Limits tests of cases that share a code path: `npm test` runs a few of the cases, `npm run soak` all.

/** Whether long tests run, too. */
export const isLongForm = process.env["LONG_FORM"] === "true";

/** Registers tests that only `npm run soak` runs. `npm test` does not list them, not even as skipped. */
export const inLongForm = (register: () => void): void => {
  if (isLongForm) register();
};

/** Registers tests that `npm run soak` always runs, and `npm test` only if they go another way there, e.g. on this machine. */
export const inShortFormIf = (isWanted: boolean, register: () => void): void => {
  if (isWanted || isLongForm) register();
};

/** @param few names of the cases that represent all; names that are missing in `all`, because this machine lacks the tools, are ignored */
export const casesOf = <Case>(
  all: Record<string, Case>,
  few: readonly string[],
): [string, Case][] => Object.entries(all).filter(([name]) => isLongForm || few.includes(name));
