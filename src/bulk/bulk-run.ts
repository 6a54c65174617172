// Sends one request for each of many rows, a few at a time, and records the results.
import { isPassing, describeError } from "../api/api-error.ts";
import { createStore, type Store } from "../store.ts";
import { type End, follow, type Seen } from "./follow.ts";

export type Result =
  | { kind: "waiting" | "asked" | "done" | "skipped" }
  | End
  /** The service refused the request, or the request failed. */
  | { kind: "refused" | "failed"; reason: string; requestId: string | null };

export type RunState = {
  phase: "asking" | "running" | "over";
  results: ReadonlyMap<number, Result>;
};

export type BulkRun = {
  state: Store<RunState>;
  /**
   * Sends the requests of all rows that are not done yet.
   * @param choice the selected option of the question
   */
  start: (choice: string) => Promise<void>;
  /** Cancels the rows whose requests have not been sent. */
  skipRest: () => void;
};

type RunOptions = {
  ids: readonly number[];
  act: (id: number, choice: string) => Promise<void>;
  onDone: (id: number) => void;
  /** Reads the present state of each object; without it, only the acceptance of the request is known. */
  look?: (() => Promise<ReadonlyMap<number, Seen>>) | undefined;
  /** Called when every object has settled. */
  onEnd?: (() => void) | undefined;
  /** Maximum number of parallel requests. */
  atOnce?: number;
};

/** Whether the service accepted the request, and nothing has failed since. */
const isTaken = (result: Result | undefined) =>
  result?.kind === "done" || result?.kind === "moving" || result?.kind === "ended";

export function createRun({ ids, act, onDone, look, onEnd, atOnce = 4 }: RunOptions): BulkRun {
  const state = createStore<RunState>({ phase: "asking", results: new Map() });
  let isSkipping = false;
  let starts = 0;

  const note = (id: number, result: Result) =>
    state.set({ ...state.get(), results: new Map(state.get().results).set(id, result) });

  async function ask(id: number, choice: string): Promise<void> {
    note(id, { kind: "asked" });
    try {
      await act(id, choice);
    } catch (error) {
      const kind = isPassing(error) ? "failed" : "refused";
      const { message: reason, requestId } = describeError(error);
      return note(id, { kind, reason, requestId });
    }
    note(id, { kind: "done" });
    onDone(id);
  }

  async function followTaken(): Promise<void> {
    const before = state.get().results;
    const taken = new Set(ids.filter((id) => isTaken(before.get(id))));
    const start = starts;
    if (look === undefined || taken.size === 0) return;
    await follow({
      ids: taken,
      look,
      note: (ends) =>
        state.set({ ...state.get(), results: new Map([...state.get().results, ...ends]) }),
      isOver: () => start !== starts,
    });
    if (start === starts) onEnd?.();
  }

  return {
    state,
    skipRest: () => (isSkipping = true),
    async start(choice) {
      isSkipping = false;
      starts += 1;
      const before = state.get().results;
      const rest = ids.filter((id) => !isTaken(before.get(id)));
      const results = new Map(before);
      for (const id of rest) results.set(id, { kind: "waiting" });
      state.set({ phase: "running", results });
      const takeTurns = async () => {
        for (let id = rest.shift(); id !== undefined; id = rest.shift())
          if (isSkipping) note(id, { kind: "skipped" });
          else await ask(id, choice);
      };
      await Promise.all(Array.from({ length: atOnce }, takeTurns));
      state.set({ ...state.get(), phase: "over" });
      // Not awaited: the requests are done, and their effects may take a while.
      void followTaken();
    },
  };
}

const words: readonly (readonly [kinds: readonly Result["kind"][], word: string])[] = [
  [["moving"], "running"],
  [["done", "ended"], "done"],
  [["refused"], "refused"],
  [["failed", "broken"], "failed"],
  [["skipped"], "skipped"],
];

/** Summarizes the results so far: "7 done, 1 refused". */
export function summaryOf({ results }: RunState): string {
  const kinds = [...results.values()].map(({ kind }) => kind);
  return words
    .map(([some, word]) => [kinds.filter((one) => some.includes(one)).length, word] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}

const isOpen = ({ kind }: Result) => kind === "waiting" || kind === "asked";

/** Number of rows with a response. */
export const answeredOf = ({ results }: RunState): number =>
  [...results.values()].filter((result) => !isOpen(result)).length;

/** Whether some requests have not been sent. */
export const hasWaiting = ({ results }: RunState): boolean =>
  [...results.values()].some(({ kind }) => kind === "waiting");

/** Whether some rows can be tried again. */
export const hasFailed = ({ results }: RunState): boolean =>
  [...results.values()].some((result) => !isOpen(result) && !isTaken(result));

/** Whether an accepted request did not lead to its result, so that its row counts as failed. */
export const hasBroken = ({ results }: RunState): boolean =>
  [...results.values()].some(({ kind }) => kind === "broken");

/** The screen reader announcement: the end, and before it each quarter, because every row would be too much. */
export function spokenOf(state: RunState): string {
  if (state.phase === "asking") return "";
  if (state.phase === "over") return `${summaryOf(state)}.`;
  const total = state.results.size;
  const quarters = Math.floor((answeredOf(state) * 4) / total);
  return quarters === 0 ? "In progress." : `${quarters * 25} percent done.`;
}
