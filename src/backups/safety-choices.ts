// What becomes of the present data when a backup is restored over it.
import type { Question } from "../app/confirm.ts";

export const safetyChoices: NonNullable<Question["choices"]> = {
  legend: "Current data",
  options: [
    {
      value: "save",
      label: "Save it as a backup first",
      help: "If that fails, nothing is restored and nothing changes.",
    },
    {
      value: "discard",
      label: "Restore without saving what is there",
      help: "For data too broken to back up. Everything written since the last backup is lost, and this restore cannot be undone.",
    },
  ],
};

/** What is typed in place of the name, so that nobody gets here by habit. */
export const discardWord = "discard";

/** Whatever else was chosen, what is there is saved. */
export const isDiscarding = (choice: string): boolean => choice === "discard";
