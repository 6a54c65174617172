// Creates the backups that "Protect all" was asked for, and follows each until it is tested.
import { call } from "../api/client.ts";
import { mutate } from "../api/mutate.ts";
import { invalidate, queryClient } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import { type BulkRun, createRun, hasBroken, summaryOf } from "../bulk/bulk-run.ts";
import { bodyOf, type ProtectAll, type Target } from "./protect-all.ts";
import { everyConfigurationQuery } from "./queries.ts";

export type ProtectPlan = { values: ProtectAll; targets: readonly Target[] };

/** A site and a database may have the same id. */
const keyOf = ({ type, id }: Pick<Target, "type" | "id">) => `${type} ${id}`;

/**
 * Its rows are the indexes of the plan's targets.
 * @param isShown whether a dialog shows the outcome, so that nothing else has to
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
