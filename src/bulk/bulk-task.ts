// Bulk actions: how a room describes them, and how they begin.
import { hasStatus } from "../api/api-error.ts";
import { sessions } from "../api/session.ts";
import type { IconName } from "../ui/Icon.tsx";
import type { Question } from "../app/confirm.ts";
import { toast } from "../app/toasts.ts";
import { loadAgain } from "../app/routing/asked-part.ts";
import { type BulkRun, createRun, hasBroken, summaryOf } from "./bulk-run.ts";
import type { Seen } from "./follow.ts";
import { bulkTask } from "./current-task.ts";
import { loadBulkDialog } from "./load-dialog.ts";

/** An action of a room for many of its rows. */
export type BulkAction<Item> = {
  label: string;
  icon: IconName;
  /** The key of the same action for a single row, if any. */
  keys?: string;
  /** @param what "3 workers" */
  title: (what: string) => string;
  /** The word for a finished row, e.g. "stopping". */
  done: string;
  /** Why it is impossible for this row now. */
  refusal: (item: Item) => string | undefined;
  /** The question before something stops or is lost, which it names. */
  question?: (items: readonly Item[]) => Pick<Question, "body" | "typed" | "choices">;
  run: (item: Item, choice: string) => Promise<unknown>;
  /** What to watch afterwards; by default the row's own status. */
  seen?: (item: Item) => Seen;
};

/** For a deletion: an object that somebody else has already deleted counts as done. */
export const goneIsDone = (deleted: Promise<unknown>): Promise<unknown> =>
  deleted.catch((error: unknown) => {
    if (!hasStatus(error, 404)) throw error;
  });

/** The words of a room for its rows. */
export type BulkWords<Item> = {
  /** E.g. "emails on redis". */
  nameOf: (item: Item) => string;
  /** Further text that distinguishes the row. */
  detailOf?: (item: Item) => string;
  /** Singular and plural. */
  one: string;
  many: string;
};

/** "3 workers". */
export const countText = (count: number, { one, many }: { one: string; many: string }): string =>
  `${count} ${count === 1 ? one : many}`;

type Rows<Item> = BulkWords<Item> & {
  items: readonly Item[];
  /** Reads the rows again, where `items` may be old: rows that are gone, or are no longer meant, are left alone. */
  reread?: (() => Promise<readonly Item[]>) | undefined;
  /** Called for each finished row, which is then deselected, so that the remaining selection is what is left to do. */
  onDone: (id: number) => void;
  /** Reads the whole list, to watch the rows afterwards. */
  read?: (() => Promise<readonly Item[]>) | undefined;
  show?: (() => void) | null;
};

/** The status and reason of most objects. */
const ownStatus = (item: object): Seen => ({
  status: "status" in item && typeof item.status === "string" ? item.status : undefined,
  reason:
    "status_reason" in item && typeof item.status_reason === "string" ? item.status_reason : null,
});

/** While the dialog is loading, further clicks are ignored. */
let isLoading = false;

/** Begins an action, with its question if it has one. */
export async function begin<Item extends { id: number }>(
  action: BulkAction<Item>,
  { items: selected, reread, onDone, read, show = null, ...words }: Rows<Item>,
): Promise<void> {
  if (isLoading) return;
  const session = sessions.current();
  isLoading = true;
  let items = selected;
  try {
    // Loaded first, so that no request is sent whose result could not be shown.
    const dialog = await loadBulkDialog().catch(() => null);
    if (dialog === null)
      return void toast.failure("Couldn't load what the action needs.", loadAgain);
    if (reread !== undefined) {
      const now = new Map((await reread()).map((item) => [item.id, item]));
      items = selected.flatMap(({ id }) => now.get(id) ?? []);
    }
  } catch (error) {
    toast.failure(`Couldn't read the selected ${words.many}.`, error);
    return;
  } finally {
    isLoading = false;
  }
  if (sessions.current() !== session) return;
  if (items.length === 0) {
    toast.failure(`The selected ${words.many} no longer match.`);
    return;
  }
  const possible = items.filter((item) => action.refusal(item) === undefined);
  const byId = new Map(possible.map((item) => [item.id, item]));
  const toRow = (item: Item) => ({
    id: item.id,
    name: words.nameOf(item),
    detail: words.detailOf?.(item),
  });
  const leftOut = items.flatMap((item) => {
    const reason = action.refusal(item);
    return reason === undefined ? [] : [{ ...toRow(item), reason }];
  });
  const question = action.question?.(possible) ?? null;
  const title = action.title(countText(possible.length, words));
  const seenOf = action.seen ?? ownStatus;
  const run: BulkRun = createRun({
    ids: possible.map(({ id }) => id),
    act: async (id, choice) => {
      const item = byId.get(id);
      if (item !== undefined) await action.run(item, choice);
    },
    onDone,
    look:
      read && (async () => new Map((await read()).map((item) => [item.id, seenOf(item)] as const))),
    onEnd() {
      // The dialog shows the outcome itself while it is open.
      if (bulkTask.get()?.run === run) return;
      const outcome = `${title}: ${summaryOf(run.state.get())}.`;
      if (!hasBroken(run.state.get())) toast.success(outcome);
      else
        toast.failure(
          outcome,
          null,
          undefined,
          show === null ? undefined : { label: "Show", run: show },
        );
    },
  });
  const rows = possible.map(toRow);
  bulkTask.set({
    title,
    done: action.done,
    rows,
    leftOut,
    question,
    run,
    show,
  });
  if (question === null && leftOut.length === 0) void run.start("");
}
