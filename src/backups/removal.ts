// What becomes of the stored files when their configuration is deleted.
import type { Question } from "../app/confirm.ts";

export type Files = "keep" | "remove";

/** @param place where the files are, as in "They stay in …" */
export const removalChoices = (place: string): NonNullable<Question["choices"]> => ({
  legend: "Stored files",
  options: [
    {
      value: "keep",
      label: "Keep stored files",
      help: `The files stay in ${place} and can be restored manually.`,
    },
    {
      value: "remove",
      label: "Delete stored files",
      help: "All backups are permanently deleted.",
    },
  ],
});

/** Whatever else was chosen, nothing is removed that was not named. */
export const toFiles = (choice: string): Files => (choice === "remove" ? "remove" : "keep");
