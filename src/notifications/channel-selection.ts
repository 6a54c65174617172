// A selection that is saved as a whole, by one request at a time: changes meanwhile are queued, and applied to the
// result of the last save. So no change is lost, and no late response shows an old state.
import { createStore } from "../store.ts";

/** Requested changes: selected or not, by id. */
export type Changes = ReadonlyMap<number, boolean>;

/** Later changes win. */
const merge = (...all: readonly Changes[]): Changes =>
  new Map(all.flatMap((changes) => [...changes]));

/** Returns the selected ids after the changes; the others keep their order. */
export const withChanges = (ids: readonly number[], changes: Changes): number[] => {
  const kept = ids.filter((id) => changes.get(id) !== false);
  const added = [...changes].filter(([id, isChosen]) => isChosen && !ids.includes(id));
  return [...kept, ...added.map(([id]) => id)];
};

/** Returns the changes that undo these. */
export const inverse = (changes: Changes): Changes =>
  new Map([...changes].map(([id, isChosen]) => [id, !isChosen]));

/** Notified of the result of its changes. Queued changes of one owner are saved together. */
export type Owner = {
  saved(changes: Changes): void;
  refused(error: unknown, changes: Changes, sent: readonly number[]): void;
};

type Batch = { changes: Changes; owner: Owner };

type Service = {
  /** Refetches what `current` returns, because others may have changed it. */
  refresh?: () => Promise<void>;
  /** Returns the last known selection of the service. */
  current(): readonly number[];
  /** Resolves once `current` includes the change. */
  save(ids: readonly number[]): Promise<void>;
};

export function createSelection({ refresh, current, save }: Service) {
  /** Changes without a response yet, shown on top of the service's selection. */
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
      // The screen is updated before owners are notified.
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
