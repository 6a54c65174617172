// The one open confirmation. The caller passes what to do on confirmation; the dialog shows its errors.
import type { ReactNode } from "react";
import { createStore } from "../store.ts";
import type { Choice } from "../ui/form/ChoiceList.tsx";

export type Question = {
  title: string;
  /** Names the object and what is lost. */
  body: ReactNode;
  /** Label of the confirming button, e.g. "Delete worker". */
  action: string;
  run: (choice: string) => Promise<void>;
  /** Whether fields in the body show the error of `run`, so that the dialog does not. */
  isAtField?: (error: unknown) => boolean;
  /**
   * What has to be typed to enable the button: the name of what would be lost, or a word that depends on the choice.
   */
  typed?: string | ((choice: string) => string) | undefined;
  /** Options for a part of the action; the first is the default. `run` gets the value. */
  choices?: { legend: string; options: readonly Choice[] } | undefined;
};

export const question = createStore<Question | null>(null);

export const confirm = (next: Question): void => question.set(next);
