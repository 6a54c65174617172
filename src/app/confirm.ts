// The one question that may be open. Whoever asks hands over what to do on yes; the dialog owns its errors.
import type { ReactNode } from "react";
import { createStore } from "../store.ts";
import type { Choice } from "../ui/ChoiceList.tsx";

export type Question = {
  title: string;
  /** Names the thing and what is lost. */
  body: ReactNode;
  /** The label of the button that does it, e.g. "Delete worker". */
  action: string;
  run: (choice: string) => Promise<void>;
  /** Whether fields in the body show what `run` threw, so that it is not said once more. */
  isAtField?: (error: unknown) => boolean;
  /** What has to be typed before the button works: the name of what would be lost, or a word of each choice's own. */
  typed?: string | ((choice: string) => string) | undefined;
  /** What is to become of a part of it; the first is chosen until another one is. `run` gets the value. */
  choices?: { legend: string; options: readonly Choice[] } | undefined;
};

export const question = createStore<Question | null>(null);

export const confirm = (next: Question): void => question.set(next);
