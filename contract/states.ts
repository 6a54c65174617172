// What state words mean. Each room defines its own words; the rule for states in transit is common.

/** Whether the state will change by itself: exactly those whose word ends in `-ing`. */
export const isInTransit = (state: string | null | undefined): boolean =>
  state?.endsWith("ing") ?? false;

/** Checks whether the state of an object allows an action; `states` lists the states that do. */
type Allowed<State extends string> = {
  readonly states: readonly State[];
  (object: { status: string }): boolean;
};

/** Creates the check of an action, which both ends share. */
export function allowedIn<State extends string>(states: readonly State[]): Allowed<State> {
  const test = ({ status }: { status: string }) => states.some((state) => state === status);
  return Object.assign(test, { states });
}
