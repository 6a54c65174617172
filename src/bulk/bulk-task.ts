// What is done to many rows: what a room says of it, and how it begins.
import { hasStatus } from "../api/api-error.ts";
import { sessions } from "../api/session.ts";
import type { IconName } from "../ui/Icon.tsx";
import type { Question } from "../app/confirm.ts";
import { toast } from "../app/toasts.ts";
import { loadAgain } from "../app/asked-part.ts";
import { type BulkRun, createRun, hasBroken, summaryOf } from "./bulk-run.ts";
import type { Seen } from "./follow.ts";
import { bulkTask } from "./current-task.ts";
import { loadBulkDialog } from "./load-dialog.ts";

/** What a room offers to do with many of its rows. */
export type BulkAction<Item> = {
  label: string;
  icon: IconName;
  /** The key of the same action of a single row, where that has one. */
  keys?: string;
  /** @param what "3 workers" */
  title: (what: string) => string;
  /** What a row is once it is done, e.g. "stopping". */
  done: string;
  /** Why it is not possible with this one now. */
  refusal: (item: Item) => string | undefined;
  /** Asked before something stops or is lost; it names that. */
  question?: (items: readonly Item[]) => Pick<Question, "body" | "typed" | "choices">;
  run: (item: Item, choice: string) => Promise<unknown>;
  /** What to follow of a thing afterwards; its own status unless given. */
  seen?: (item: Item) => Seen;
};

/** For a deletion: what somebody else has deleted already is as it was asked to be. */
export const goneIsDone = (deleted: Promise<unknown>): Promise<unknown> =>
  deleted.catch((error: unknown) => {
    if (!hasStatus(error, 404)) throw error;
  });

/** How a room speaks of its rows. */
export type BulkWords<Item> = {
  /** E.g. "emails on redis". */
  nameOf: (item: Item) => string;
  /** What else tells it apart. */
  detailOf?: (item: Item) => string;
  /** The word for one of them, and for more. */
  one: string;
  many: string;
};

/** "3 workers". */
export const countText = (count: number, { one, many }: { one: string; many: string }): string =>
  `${count} ${count === 1 ? one : many}`;

type Rows<Item> = BulkWords<Item> & {
  items: readonly Item[];
  /** It leaves the selection, so that what is left of that is what still wants doing. */
  onDone: (id: number) => void;
  /** Reads all of the list, to see what became of them. */
  read?: (() => Promise<readonly Item[]>) | undefined;
  show?: (() => void) | null;
};

/** What most things say of themselves. */
const ownStatus = (item: object): Seen => ({
  status: "status" in item && typeof item.status === "string" ? item.status : undefined,
  reason:
    "status_reason" in item && typeof item.status_reason === "string" ? item.status_reason : null,
});

/** Whoever presses once more before the dialog is there wants the same. */
let isLoading = false;

/** Begins an action: with its question, or at once when there is nothing to say beforehand. */
export async function begin<Item extends { id: number }>(
  action: BulkAction<Item>,
  { items, onDone, read, show = null, ...words }: Rows<Item>,
): Promise<void> {
  if (isLoading) return;
  const session = sessions.current();
  isLoading = true;
  try {
    // First: nothing is asked of the service that could not be reported.
    await loadBulkDialog();
  } catch {
    toast.failure("Couldn't load what the action needs.", loadAgain);
    return;
  } finally {
    isLoading = false;
  }
  if (sessions.current() !== session) return;
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
      // The dialog, as long as it is open, says it itself.
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
