// What becomes of the stored files when their configuration is deleted.
import type { Question } from "../app/confirm.ts";

export type Files = "keep" | "remove";

/** @param place where the files are, as in "They stay in …" */
export const removalChoices = (place: string): NonNullable<Question["choices"]> => ({
  legend: "The stored files",
  options: [
    {
      value: "keep",
      label: "Keep the stored files",
      help: `They stay in ${place}, and can be restored by hand.`,
    },
    {
      value: "remove",
      label: "Remove the stored files",
      help: "Every backup of it is gone for good.",
    },
  ],
});

/** Whatever else was chosen, nothing is removed that was not named. */
export const toFiles = (choice: string): Files => (choice === "remove" ? "remove" : "keep");
