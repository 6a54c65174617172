// What goes the same way for many kinds is tried with a few of them by `npm test`, and with all by `npm run soak`.

/** Whether time does not matter now. */
export const isLongForm = process.env["LONG_FORM"] === "true";

/** Registers tests that `npm run soak` alone runs. In `npm test` they are not there, which is not to be skipped. */
export const inLongForm = (register: () => void): void => {
  if (isLongForm) register();
};

/** @param few names of the cases that stand for all of them; those that this machine cannot try are not there anyway */
export const casesOf = <Case>(
  all: Record<string, Case>,
  few: readonly string[],
): [string, Case][] => Object.entries(all).filter(([name]) => isLongForm || few.includes(name));
