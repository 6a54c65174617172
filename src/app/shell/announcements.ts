// Screen reader announcements of settled states. Neither polls nor states in transit are announced: a user who pressed
// a button expects those.
import type { Query, QueryClient } from "@tanstack/react-query";
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import type { OperationName } from "../../../contract/operations.ts";
import { isInTransit } from "../../../contract/states.ts";
import type { Worker } from "../../../contract/workers/worker.ts";
import { workerLabel } from "../../../contract/workers/worker-name.ts";
import type { ResponseOf } from "../../api/client.ts";
import { createStore } from "../../store.ts";

/** An object with a state, and its name on screen, which others may share. */
type Stateful = { key: string; name: string; status: string };

const ofWorker = (worker: Worker): Stateful => ({
  key: `worker ${worker.id}`,
  name: workerLabel(worker),
  status: worker.status,
});

const ofBackup = ({ id, status, restore_status: restore }: Backup): Stateful[] => [
  { key: `backup ${id}`, name: `Backup ${id}`, status },
  ...(restore === null
    ? []
    : [{ key: `restore ${id}`, name: `Restore of backup ${id}`, status: restore }]),
];

const ofConfiguration = ({ id, name, status, backups }: BackupConfiguration): Stateful[] => [
  { key: `configuration ${id}`, name: `“${name}”`, status },
  ...backups.flatMap(ofBackup),
];

type Readers = { [Name in OperationName]?: (answer: ResponseOf<Name>) => Stateful[] };

const readers: Readers = {
  listWorkers: ({ data }) => data.map(ofWorker),
  showWorker: (worker) => [ofWorker(worker)],
  listBackupConfigurations: ({ data }) => data.flatMap(ofConfiguration),
  showBackupConfiguration: ofConfiguration,
  showBackup: ofBackup,
};

/**
 * Records the states of a response.
 * @returns sentences about states that have settled since the last call
 */
export function settledSince(known: Map<string, string>, seen: readonly Stateful[]): string[] {
  const settled = seen.filter(({ key, status }) => {
    const before = known.get(key);
    return before !== undefined && before !== status && !isInTransit(status);
  });
  for (const { key, status } of seen) known.set(key, status);
  return settled.map(({ name, status }) => `${name} ${status}.`);
}

/** Numbered, because a screen reader does not announce the same sentence again unless it is in a new element. */
export const announcement = createStore({ number: 0, text: "" });

const statefulIn = ({ queryKey, state }: Query): Stateful[] => {
  // A key begins with the name of its operation, and its data is that operation's response; see `query`.
  const read = readers[queryKey[0] as OperationName] as
    | ((answer: unknown) => Stateful[])
    | undefined;
  return state.data == null ? [] : (read?.(state.data) ?? []);
};

/**
 * Announces changes from now on; what is cached already is not announced.
 * @returns a function that stops the announcements
 */
export function announceChanges(client: QueryClient): () => void {
  const known = new Map<string, string>();
  for (const query of client.getQueryCache().getAll()) settledSince(known, statefulIn(query));
  return client.getQueryCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "success") return;
    const sentences = settledSince(known, statefulIn(event.query));
    if (sentences.length === 0) return;
    announcement.set({ number: announcement.get().number + 1, text: sentences.join(" ") });
  });
}
