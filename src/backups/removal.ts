// Deleting a configuration, and what becomes of its stored files then.
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { call } from "../api/client.ts";
import { isLast } from "../api/mutate.ts";
import { invalidate, queryClient } from "../api/query.ts";
import type { Question } from "../app/confirm.ts";
import { patchConfiguration } from "./actions.ts";

type Files = "keep" | "remove";

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

type Removal = { configuration: BackupConfiguration; files: Files };

const removeKey = ["delete a configuration"];

/** Deletes a configuration. The dialog that asked reports a failure. */
export const removeMutation = {
  mutationKey: removeKey,
  mutationFn: ({ configuration: { id }, files }: Removal) =>
    call("deleteBackupConfiguration", { id }, files === "remove" ? { query: { files } } : {}),
  onMutate: async ({ configuration: { id } }: Removal) => {
    // An answer that is on its way knows nothing of this.
    await Promise.all(
      ["listBackupConfigurations", "showBackupConfiguration"].map((name) =>
        queryClient.cancelQueries({ queryKey: [name] }),
      ),
    );
    patchConfiguration(id, (before) => ({ ...before, status: "removing" }));
  },
  // Only our own guess goes back.
  onError: (_error: Error, { configuration: { id, status } }: Removal) =>
    patchConfiguration(id, (now) => (now.status === "removing" ? { ...now, status } : now)),
  onSettled: (_answer: unknown, error: Error | null) => {
    if (isLast(removeKey)) void invalidate("listBackupConfigurations");
    // What was deleted is soon not there any more, and asking for it would end on "Not found".
    if (error !== null) void invalidate("showBackupConfiguration");
  },
};
