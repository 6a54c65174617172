// Adds tasks to the queues of their servers, each with a deadline for its start.
import type { Jobs } from "../../jobs/jobs.ts";
import type { Connection } from "../../store/database.ts";
import type { BackupTaskKind } from "../../store/tables/backups.ts";
import type { ConfigurationRow } from "../configuration-store.ts";
import { longestWaitMs } from "./task-runner.ts";
import type { TaskDetails, TaskStore } from "./task-store.ts";

export type AddTasksOptions = { tasks: Pick<TaskStore, "insert">; jobs: Pick<Jobs, "sendAll"> };

export function createAddTasks({ tasks, jobs }: AddTasksOptions) {
  /** @returns the ids of the tasks */
  async function addTasks(
    tx: Connection,
    kind: BackupTaskKind,
    backups: readonly { id: number; server_id: number }[],
    more: TaskDetails = {},
  ): Promise<string[]> {
    if (backups.length === 0) return [];
    const added = backups.map(({ id, server_id }) => ({
      server_id,
      backup_id: id,
      kind,
      ...more,
    }));
    const ids = await tasks.insert(tx, added);
    const deadlines = ids.map((id) => ({ id }));
    await jobs.sendAll(tx, "backup-task.deadline", deadlines, longestWaitMs / 1000);
    return ids;
  }

  return {
    addTasks,

    /** @returns the ids of the tasks */
    addTask: (
      tx: Connection,
      { server_id }: Pick<ConfigurationRow, "server_id">,
      id: number,
      kind: BackupTaskKind,
      more: TaskDetails = {},
    ) => addTasks(tx, kind, [{ id, server_id }], more),
  };
}
