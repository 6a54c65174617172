// Creates configurations for all unprotected sources of a server: asks for the settings once, shows what it creates,
// and reports each result.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { scheduleText } from "../../../contract/backups/schedule-text.ts";
import { invalidate } from "../../api/query.ts";
import { toast } from "../../app/toasts.ts";
import { type BulkRun, spokenOf } from "../../bulk/bulk-run.ts";
import { ResultRow } from "../../bulk/BulkRows.tsx";
import { RunActions, RunOutcome } from "../../bulk/RunParts.tsx";
import { createStore, useStore } from "../../store.ts";
import { Dialog } from "../../ui/dialog/Dialog.tsx";
import { useChoices } from "../form/choices.ts";
import { frequencyOf, type Target, unprotectedOf } from "./protect-all.ts";
import { createProtectRun, type ProtectPlan } from "./protect-run.ts";
import { createTitle, ProtectAllForm } from "./ProtectAllForm.tsx";
import { everyConfigurationQuery } from "../queries.ts";

type ProtectAllDialogProps = {
  serverId: number;
  server: string;
  /** IANA name; null where the service does not return it. */
  timeZone: string | null;
  onClose: () => void;
};

export function ProtectAllDialog({ serverId, server, timeZone, onClose }: ProtectAllDialogProps) {
  const choices = useChoices(serverId);
  const { data: configurations, error } = useQuery({
    ...everyConfigurationQuery(serverId),
    staleTime: 0,
  });
  /** Fixed when the dialog opens, because created configurations remove sources from the list. */
  const [targets, setTargets] = useState<readonly Target[] | null>(null);
  const [isShown] = useState(() => createStore(true));
  const [begun, setBegun] = useState<{ plan: ProtectPlan; run: BulkRun } | null>(null);
  const { databases, sites, providers } = choices;
  if (targets === null && configurations !== undefined && databases !== null && sites !== null)
    setTargets(unprotectedOf(choices, configurations.data));
  useEffect(() => {
    if (error === null) return;
    toast.failure(`Couldn't read what has no backup on ${server}.`, error);
    onClose();
  }, [error, server, onClose]);
  if (targets === null || providers === null) return null;

  const begin = (plan: ProtectPlan) => {
    const run = createProtectRun({ id: serverId, name: server }, plan, isShown.get);
    setBegun({ plan, run });
    void start(run);
  };
  const close = () => {
    isShown.set(false);
    onClose();
  };
  return begun === null ? (
    <ProtectAllForm
      server={server}
      timeZone={timeZone}
      providers={providers}
      targets={targets}
      onSubmit={begin}
      onClose={close}
    />
  ) : (
    <ProtectAllRun {...begun} onClose={close} />
  );
}

async function start(run: BulkRun): Promise<void> {
  await run.start("");
  await invalidate("listBackupConfigurations", "showOverview");
}

type ProtectAllRunProps = { plan: ProtectPlan; run: BulkRun; onClose: () => void };

function ProtectAllRun({ plan: { values, targets }, run, onClose }: ProtectAllRunProps) {
  const state = useStore(run.state);
  const title = createTitle(targets.length);
  return (
    <Dialog
      isLong
      title={title}
      onClose={() => {
        if (state.phase !== "running") onClose();
      }}
      actions={
        <RunActions
          title={title}
          run={run}
          start={() => void start(run)}
          close={onClose}
          isGrave={false}
          disabledReason={undefined}
        />
      }
    >
      <output className="sr-only">{spokenOf(state)}</output>
      <RunOutcome state={state} total={targets.length} show={null} close={onClose} />
      <ul aria-label={title} className="border-y border-line">
        {targets.map(({ type, id, label }, index) => (
          <ResultRow
            key={`${type} ${id}`}
            name={label}
            detail={scheduleText(frequencyOf(values.spread, index, targets.length))}
            result={state.results.get(index)}
            done="created"
          />
        ))}
      </ul>
    </Dialog>
  );
}
