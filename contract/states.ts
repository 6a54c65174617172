// What state words mean to both ends. Each room names its own words; the rule for "still moving" is one.

/** True while the state will change by itself: exactly when its word ends in `-ing`. */
export const isInTransit = (state: string | null | undefined): boolean =>
  state?.endsWith("ing") ?? false;

/** An action, and the states of its object in which it may be asked for. */
type Allowed<State extends string> = {
  readonly states: readonly State[];
  (object: { status: string }): boolean;
};

/** Makes the test "may this action be asked for now?" that both ends share. */
export function allowedIn<State extends string>(states: readonly State[]): Allowed<State> {
  const test = ({ status }: { status: string }) => states.some((state) => state === status);
  return Object.assign(test, { states });
}
