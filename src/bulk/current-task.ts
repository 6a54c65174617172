// The one bulk action that may be running. The bar sets it; the dialog asks, runs it, and reports.
import { sessions } from "../api/session.ts";
import type { Question } from "../app/confirm.ts";
import { createStore } from "../store.ts";
import type { BulkRun } from "./bulk-run.ts";

/** A row by its name, with further text that distinguishes it. */
export type BulkRow = { id: number; name: string; detail: string | undefined };

export type BulkTask = {
  /** E.g. "Stop 3 workers". */
  title: string;
  done: string;
  rows: readonly BulkRow[];
  leftOut: readonly (BulkRow & { reason: string })[];
  question: Pick<Question, "body" | "typed" | "choices"> | null;
  run: BulkRun;
  /** Shows the failed rows, where the list can be filtered. */
  show: (() => void) | null;
};

export const bulkTask = createStore<BulkTask | null>(null);

// A new session does not show the task of the previous one.
sessions.state.subscribe(() => {
  if (sessions.current() === null) bulkTask.set(null);
});
