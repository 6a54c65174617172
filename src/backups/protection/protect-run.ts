// Creates the configurations of "Protect all", and watches each until it is tested.
import { call } from "../../api/client.ts";
import { mutate } from "../../api/mutate.ts";
import { invalidate, queryClient } from "../../api/query.ts";
import { toast } from "../../app/toasts.ts";
import { type BulkRun, createRun, hasBroken, summaryOf } from "../../bulk/bulk-run.ts";
import { bodyOf, type ProtectAll, type Target } from "./protect-all.ts";
import { everyConfigurationQuery } from "../queries.ts";

export type ProtectPlan = { values: ProtectAll; targets: readonly Target[] };

/** Sites and databases may have equal ids. */
const keyOf = ({ type, id }: Pick<Target, "type" | "id">) => `${type} ${id}`;

/**
 * Rows are identified by the index of their target.
 * @param isShown whether a dialog shows the outcome, so that no toast is needed
 */
export function createProtectRun(
  { id: serverId, name }: { id: number; name: string },
  { values, targets }: ProtectPlan,
  isShown: () => boolean,
): BulkRun {
  async function look() {
    const query = everyConfigurationQuery(serverId);
    const { data } = await queryClient.fetchQuery({ ...query, staleTime: 0, retry: false });
    const found = new Map(
      data.map((one) => [keyOf({ type: one.type, id: one.backupable.id }), one]),
    );
    return new Map(
      targets.flatMap((target, index) => {
        const one = found.get(keyOf(target));
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
      await mutate(
        { mutationFn: () => call("createBackupConfiguration", { id: serverId }, { body }) },
        undefined,
      );
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
