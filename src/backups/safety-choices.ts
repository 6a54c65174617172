// What becomes of the present data when a backup is restored over it.
import type { Question } from "../app/confirm.ts";

export const safetyChoices: NonNullable<Question["choices"]> = {
  legend: "Current data",
  options: [
    {
      value: "save",
      label: "Back up current data first",
      help: "If this backup fails, the restore doesn't start and nothing changes.",
    },
    {
      value: "discard",
      label: "Restore without a backup",
      help: "For data that is too damaged to back up. Changes since the last backup are lost, and the restore can't be undone.",
    },
  ],
};

/** What is typed in place of the name, so that nobody gets here by habit. */
export const discardWord = "discard";

/** Whatever else was chosen, what is there is saved. */
export const isDiscarding = (choice: string): boolean => choice === "discard";
