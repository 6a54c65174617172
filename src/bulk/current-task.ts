// The one thing that may be under way with many rows. The bar hands it over; the dialog asks, runs and reports.
import { sessions } from "../api/session.ts";
import type { Question } from "../app/confirm.ts";
import { createStore } from "../store.ts";
import type { BulkRun } from "./bulk-run.ts";

/** A row by its name, and what else tells it apart. */
export type BulkRow = { id: number; name: string; detail: string | undefined };

export type BulkTask = {
  /** E.g. "Stop 3 workers". */
  title: string;
  done: string;
  rows: readonly BulkRow[];
  leftOut: readonly (BulkRow & { reason: string })[];
  question: Pick<Question, "body" | "typed" | "choices"> | null;
  run: BulkRun;
  /** Leads to those that failed, where the list can be filtered. */
  show: (() => void) | null;
};

export const bulkTask = createStore<BulkTask | null>(null);

// Whoever connects anew is not met by what another session began.
sessions.state.subscribe(() => {
  if (sessions.current() === null) bulkTask.set(null);
});
