// Creates the configurations of "Protect all", and watches each until it is tested.
import { call } from "../../api/client.ts";
import { mutate } from "../../api/mutate.ts";
import { invalidate, queryClient } from "../../api/query.ts";
import { toast } from "../../app/toasts.ts";
import { type BulkRun, createRun, hasBroken, summaryOf } from "../../bulk/bulk-run.ts";
import { bodyOf, type ProtectAll, type Target } from "./protect-all.ts";
import { everyConfigurationQuery } from "../queries.ts";

export type ProtectPlan = { values: ProtectAll; targets: readonly Target[] };

/**
 * Rows are identified by the index of their target.
 * @param isShown whether a dialog shows the outcome, so that no toast is needed
 */
export function createProtectRun(
  { id: serverId, name }: { id: number; name: string },
  { values, targets }: ProtectPlan,
  isShown: () => boolean,
): BulkRun {
  /** Ids of the created configurations by index. */
  const created = new Map<number, number>();

  async function look() {
    const query = everyConfigurationQuery(serverId);
    const { data } = await queryClient.fetchQuery({ ...query, staleTime: 0, retry: false });
    const found = new Map(data.map((one) => [one.id, one]));
    return new Map(
      [...created].flatMap(([index, id]) => {
        const one = found.get(id);
        return one === undefined
          ? []
          : [[index, { status: one.status, reason: one.status_reason }] as const];
      }),
    );
  }

  const run: BulkRun = createRun({
    ids: targets.map((_, index) => index),
    async act(index) {
      const target = targets[index];
      if (target === undefined) return;
      const body = bodyOf(values, target, index, targets.length);
      const { backupable_type: _type, backupable_id: _id, ...settings } = body;
      const id = created.get(index);
      const mutationFn = () =>
        id === undefined
          ? call("createBackupConfiguration", { id: serverId }, { body })
          : // A retry: a change tests the configuration again.
            call("updateBackupConfiguration", { id }, { body: settings });
      created.set(index, (await mutate({ mutationFn }, undefined)).id);
    },
    onDone: () => undefined,
    look,
    onEnd() {
      void invalidate("listBackupConfigurations", "showOverview");
      if (isShown()) return;
      const outcome = `Backups on ${name}: ${summaryOf(run.state.get())}.`;
      if (hasBroken(run.state.get())) toast.failure(outcome, null);
      else toast.success(outcome);
    },
  });
  return run;
}
