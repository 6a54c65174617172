// The one question that may be open. Whoever asks hands over what to do on yes; the dialog owns its errors.
import type { ReactNode } from "react";
import { createStore } from "../store.ts";

export type Question = {
  title: string;
  /** Names the thing and what is lost. */
  body: ReactNode;
  /** The label of the button that does it, e.g. "Delete worker". */
  action: string;
  run: () => Promise<void>;
};

export const question = createStore<Question | null>(null);

export const confirm = (next: Question): void => question.set(next);
