// Asks the service for the same thing about many rows, a few at a time, and keeps what came of each.
import { isPassing, describeError } from "../api/api-error.ts";
import { createStore, type Store } from "../store.ts";
import { type End, follow, type Seen } from "./follow.ts";

export type Result =
  | { kind: "waiting" | "asked" | "done" | "skipped" }
  | End
  /** The service said no, or did not answer as it should. */
  | { kind: "refused" | "failed"; reason: string; requestId: string | null };

export type RunState = {
  phase: "asking" | "running" | "over";
  results: ReadonlyMap<number, Result>;
};

export type BulkRun = {
  state: Store<RunState>;
  /** Asks for all that are not done yet. @param choice what the question's choices were answered with */
  start: (choice: string) => Promise<void>;
  /** Those that were not asked for yet are left alone. */
  skipRest: () => void;
};

type RunOptions = {
  ids: readonly number[];
  act: (id: number, choice: string) => Promise<void>;
  onDone: (id: number) => void;
  /** Reads what each thing is now; without it, what was taken is all that is known. */
  look?: (() => Promise<ReadonlyMap<number, Seen>>) | undefined;
  /** Everything has come to its end. */
  onEnd?: (() => void) | undefined;
  /** How many requests are under way at most. */
  atOnce?: number;
};

/** The service took it, and nothing went wrong since. */
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
      // Not awaited: the requests are over, and what they led to may take its time.
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

/** "7 done, 1 refused": what has come of it so far. */
export function summaryOf({ results }: RunState): string {
  const kinds = [...results.values()].map(({ kind }) => kind);
  return words
    .map(([some, word]) => [kinds.filter((one) => some.includes(one)).length, word] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
}

const isOpen = ({ kind }: Result) => kind === "waiting" || kind === "asked";

/** How many are answered. */
export const answeredOf = ({ results }: RunState): number =>
  [...results.values()].filter((result) => !isOpen(result)).length;

/** Whether some are not asked for yet. */
export const hasWaiting = ({ results }: RunState): boolean =>
  [...results.values()].some(({ kind }) => kind === "waiting");

/** Whether there is something to try again. */
export const hasFailed = ({ results }: RunState): boolean =>
  [...results.values()].some((result) => !isOpen(result) && !isTaken(result));

/** Whether something that was taken did not come to its end, and is now among what failed. */
export const hasBroken = ({ results }: RunState): boolean =>
  [...results.values()].some(({ kind }) => kind === "broken");

/** What is read out: the end, and on the way there each quarter, because nobody wants to hear every row. */
export function spokenOf(state: RunState): string {
  if (state.phase === "asking") return "";
  if (state.phase === "over") return `${summaryOf(state)}.`;
  const total = state.results.size;
  const quarters = Math.floor((answeredOf(state) * 4) / total);
  return quarters === 0 ? "In progress." : `${quarters * 25} percent done.`;
}
