// Rules about states that both ends share.

/** Whether a state changes by itself: exactly when its word ends in `-ing`. */
export const isInTransit = (state: string | null | undefined): boolean =>
  state?.endsWith("ing") ?? false;

/** An action, and the states of its object that allow it. */
type Allowed<State extends string> = {
  readonly states: readonly State[];
  (object: { status: string }): boolean;
};

/** Creates the check, shared by both ends, whether a state allows an action. */
export function allowedIn<State extends string>(states: readonly State[]): Allowed<State> {
  const test = ({ status }: { status: string }) => states.some((state) => state === status);
  return Object.assign(test, { states });
}
