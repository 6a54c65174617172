// Runs the actions of the overview by the mutations of the rooms.
import { workerLabel } from "../../contract/workers/worker-name.ts";
import { mutate } from "../api/mutate.ts";
import { invalidate } from "../api/query.ts";
import { toast } from "../app/toasts.ts";
import { runMutation } from "../backups/actions.ts";
import { followRun } from "../backups/follow-run.ts";
import { changeMutation } from "../webhooks/actions.ts";
import { workerMutation } from "../workers/actions.ts";
import type { ProblemAction } from "./problems.ts";

/** Returns the function that runs an action, and its name for error messages. */
function planOf(action: ProblemAction): { what: string; act: () => Promise<unknown> } {
  switch (action.kind) {
    case "run": {
      const { configuration } = action;
      return {
        what: `run the backup of “${configuration.name}”`,
        act: async () => {
          const backup = await mutate(runMutation, configuration);
          if (backup !== undefined) followRun(backup, configuration, location.pathname);
        },
      };
    }
    case "start": {
      const { worker } = action;
      const label = workerLabel(worker);
      return {
        what: `start ${label}`,
        act: async () => {
          await mutate(workerMutation, { action: "start", worker });
          toast.success(`Starting ${label}.`, undefined, undefined, `worker ${worker.id}`);
        },
      };
    }
    case "enable": {
      const { id, host } = action.webhook;
      return {
        what: `enable the webhook to ${host}`,
        act: async () => {
          await mutate(changeMutation, { id, body: { enabled: true } });
          toast.success(`Webhook to ${host} enabled.`, undefined, undefined, `webhook ${id}`);
        },
      };
    }
  }
}

/** Resolves once the overview shows the result; errors are reported here. */
export async function runAction(action: ProblemAction): Promise<void> {
  const { what, act } = planOf(action);
  try {
    await act();
  } catch (error) {
    toast.failure(`Couldn't ${what}.`, error);
  }
  await invalidate("showOverview");
}
