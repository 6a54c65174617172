// Deletes a configuration, with or without its stored files.
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

/** Any other value keeps the files. */
export const toFiles = (choice: string): Files => (choice === "remove" ? "remove" : "keep");

type Removal = { configuration: BackupConfiguration; files: Files };

const removeKey = ["delete a configuration"];

/** Deletes a configuration. The confirmation shows errors. */
export const removeMutation = {
  mutationKey: removeKey,
  mutationFn: ({ configuration: { id }, files }: Removal) =>
    call("deleteBackupConfiguration", { id }, files === "remove" ? { query: { files } } : {}),
  onMutate: async ({ configuration: { id } }: Removal) => {
    // Cancels running requests, whose responses would not show the deletion.
    await Promise.all(
      ["listBackupConfigurations", "showBackupConfiguration"].map((name) =>
        queryClient.cancelQueries({ queryKey: [name] }),
      ),
    );
    patchConfiguration(id, (before) => ({ ...before, status: "removing" }));
  },
  // Only the optimistic status is reverted.
  onError: (_error: Error, { configuration: { id, status } }: Removal) =>
    patchConfiguration(id, (now) => (now.status === "removing" ? { ...now, status } : now)),
  onSettled: (_answer: unknown, error: Error | null) => {
    if (isLast(removeKey)) void invalidate("listBackupConfigurations");
    // After a success it is not refetched, because that would end with a 404.
    if (error !== null) void invalidate("showBackupConfiguration");
  },
};
