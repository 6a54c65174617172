// A selection that is saved as a whole, one save at a time: what is chosen meanwhile waits for its turn and is put on
// top of what the last save left. So none of two quick changes is lost, and no late answer shows an old state.
import { createStore } from "../store.ts";

/** Wanted, by id: chosen or not. */
export type Changes = ReadonlyMap<number, boolean>;

/** Later ones win. */
const merge = (...all: readonly Changes[]): Changes =>
  new Map(all.flatMap((changes) => [...changes]));

/** The ids that are chosen after the changes; what was there keeps its place. */
export const withChanges = (ids: readonly number[], changes: Changes): number[] => {
  const kept = ids.filter((id) => changes.get(id) !== false);
  const added = [...changes].filter(([id, isChosen]) => isChosen && !ids.includes(id));
  return [...kept, ...added.map(([id]) => id)];
};

/** What brings back the state from before. */
export const inverse = (changes: Changes): Changes =>
  new Map([...changes].map(([id, isChosen]) => [id, !isChosen]));

/** Whoever wants a change hears what became of it. Waiting changes of one owner are saved together. */
export type Owner = {
  saved(changes: Changes): void;
  refused(error: unknown, changes: Changes, sent: readonly number[]): void;
};

type Batch = { changes: Changes; owner: Owner };

type Service = {
  /** Has `current` say what the service says now: since it was shown, others may have changed it. */
  refresh?: () => Promise<void>;
  /** What the service has said last. */
  current(): readonly number[];
  /** Resolves once `current` says it too. */
  save(ids: readonly number[]): Promise<void>;
};

export function createSelection({ refresh, current, save }: Service) {
  /** What is wanted and not answered yet; it lies over what the service has said. */
  const unsaved = createStore<Changes>(new Map());
  let waiting: Batch[] = [];
  let sending: Batch | null = null;
  let isRunning = false;

  const publish = () =>
    unsaved.set(
      merge(...[...(sending === null ? [] : [sending]), ...waiting].map((batch) => batch.changes)),
    );

  async function saveOne({ changes, owner }: Batch) {
    try {
      if (refresh !== undefined) await refresh();
    } catch (error) {
      return () => owner.refused(error, changes, []);
    }
    const before = current();
    const sent = withChanges(before, changes);
    const changed: Changes = new Map(
      [...changes].filter(([id, isChosen]) => before.includes(id) !== isChosen),
    );
    try {
      if (changed.size > 0) await save(sent);
    } catch (error) {
      return () => owner.refused(error, changes, sent);
    }
    return () => owner.saved(changed);
  }

  async function run() {
    isRunning = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      sending = next;
      const tell = await saveOne(next);
      sending = null;
      // First the screen, then the words about it.
      publish();
      tell();
    }
    isRunning = false;
  }

  return {
    unsaved,
    change(changes: Changes, owner: Owner): void {
      const last = waiting.at(-1);
      waiting =
        last?.owner === owner
          ? [...waiting.slice(0, -1), { owner, changes: merge(last.changes, changes) }]
          : [...waiting, { owner, changes }];
      publish();
      if (!isRunning) void run();
    },
  };
}

export type Selection = ReturnType<typeof createSelection>;
