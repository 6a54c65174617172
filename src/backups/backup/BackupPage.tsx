// The page of a backup: progress, properties, restores and drills.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLoaderData, useNavigate } from "react-router";
import type { Backup } from "../../../contract/backups/backup.ts";
import { countOf } from "../../../contract/count-text.ts";
import { isInTransit } from "../../../contract/states.ts";
import { makePoller } from "../../api/poll.ts";
import { useLoaded } from "../../api/query.ts";
import { Link } from "../../app/Link.tsx";
import { LinkButton } from "../../app/LinkButton.tsx";
import { leaveFor } from "../../app/routing/page-change.ts";
import { toast } from "../../app/toasts.ts";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { Properties } from "../../ui/page/Properties.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { refusal } from "./backup-actions.ts";
import { BackupActions } from "./BackupActions.tsx";
import { BackupCrumbs } from "./BackupCrumbs.tsx";
import { BackupBadge } from "../BackupBadge.tsx";
import { movingStatus } from "../backup-facts.ts";
import { toProperties } from "./backup-properties.tsx";
import { splitWarnings } from "../copies.ts";
import { CopiesPanel } from "./CopiesPanel.tsx";
import type { backupLoader } from "../loaders.ts";
import { backupQuery, configurationQuery } from "../queries.ts";
import { RunOutput } from "./RunOutput.tsx";
import { RunProgress } from "./RunProgress.tsx";
import { askUndo } from "./restore-question.tsx";
import { useStorages } from "../storages.ts";
import { isRestoredOver, safetyOf } from "./undo.ts";
import { usualBytes } from "../work.ts";

/** Other users may restore and drill backups, too. */
const settledMs = 10_000;
/** Maximum interval while something runs, however long it takes. */
const liveMs = 2_000;

const outcomeTone = (status: string) =>
  status === "failed"
    ? "bad"
    : status === "finished"
      ? "good"
      : isInTransit(status)
        ? "busy"
        : "warn";

export function BackupPage() {
  const { id, configurationId, serverId } = useLoaderData<typeof backupLoader>();
  const navigate = useNavigate();
  const [poll] = useState(() => makePoller());
  const [isLeaving, setIsLeaving] = useState(false);
  const pollMs = (now: Backup) => {
    const status = movingStatus(now);
    const ms = poll([{ id, status }], settledMs);
    return ms !== false && isInTransit(status) ? Math.min(ms, liveMs) : ms;
  };
  const backup = useLoaded(backupQuery(id), pollMs, isLeaving);
  const { data: configuration } = useQuery({
    ...configurationQuery(configurationId ?? 0),
    enabled: configurationId !== null,
    refetchInterval: () => poll([{ id, status: movingStatus(backup) }], settledMs),
  });

  const storages = useStorages();
  const { storage_provider_id: storageId, path } = backup;
  const storage = storageId === undefined || path === "" ? null : storages.describe(storageId);
  const safety = safetyOf(backup, configuration);
  const leave = () => {
    setIsLeaving(true);
    toast.success(`Deleting backup ${id}.`);
    leaveFor(
      navigate,
      configurationId === null ? paths.home() : paths.backupConfiguration(configurationId),
    );
  };
  const { restore_status: restore, drill_status: drill, restore_target: target } = backup;
  const savedId = safety?.id ?? target?.safety_backup_id ?? null;

  return (
    <>
      <PageHeader
        title={`Backup ${id}`}
        context={configuration ? [configuration.name] : []}
        crumbs={
          <BackupCrumbs
            configurationId={configurationId}
            configuration={configuration}
            serverId={serverId}
          />
        }
        state={
          <>
            <BackupBadge backup={backup} />
            {backup.status === "pending" && backup.jobs_ahead ? (
              <span className="text-sm text-muted">
                {countOf(backup.jobs_ahead, "job")} ahead on this server
              </span>
            ) : null}
          </>
        }
        actions={
          <>
            {backup.status === "finished" && backup.restore_target !== undefined && (
              <LinkButton to={paths.backupContents(id)}>Contents</LinkButton>
            )}
            <BackupActions
              backup={backup}
              configuration={configuration ?? null}
              look="words"
              onRemoved={leave}
            />
          </>
        }
      />
      {backup.status === "failed" && (
        <Notice
          tone="bad"
          actions={
            backup.trigger === "import" &&
            serverId !== null && (
              <LinkButton size="sm" to={paths.importFile({ server: serverId })}>
                Import another file
              </LinkButton>
            )
          }
        >
          <p className="whitespace-pre-wrap">
            {backup.status_reason ?? "Backup failed. See the output for the reason."}
          </p>
        </Notice>
      )}
      {backup.damage && (
        <Notice tone="bad">
          <p>
            {/* For an incremental backup, the damage may be in the full backup. */}
            {backup.base_id ? "Damaged" : "The stored file is damaged"}: {backup.damage} It can't be
            restored.
          </p>
        </Notice>
      )}
      {splitWarnings(backup, configuration).others.map((warning) => (
        <Notice key={warning} tone="warn">
          <p>{warning}</p>
        </Notice>
      ))}
      {backup.status === "running" && (
        <RunProgress
          backup={backup}
          usualBytes={usualBytes(backup, configuration?.backups ?? [])}
        />
      )}
      {restore !== null && (
        <>
          <Notice
            tone={outcomeTone(restore)}
            actions={
              safety &&
              !isRestoredOver(backup, configuration) && (
                <Button
                  size="sm"
                  disabledReason={refusal("restore", safety)}
                  onClick={() =>
                    askUndo(
                      id,
                      safety,
                      configuration ?? null,
                      () => void navigate(paths.backup(safety.id)),
                    )
                  }
                >
                  Undo restore
                </Button>
              )
            }
          >
            <p>
              Restore
              {target &&
                (target.part !== null
                  ? ` of ${target.part} in ${target.name}`
                  : target.database === null
                    ? ` into ${target.name}`
                    : ` into the new database ${target.database}`)}{" "}
              {restore}
              {backup.restored_at && (
                <>
                  {" "}
                  <Time value={backup.restored_at} />
                </>
              )}
              .{" "}
              {savedId !== null && (
                <>
                  Previous data saved as{" "}
                  <Link to={paths.backup(savedId)} className="underline underline-offset-4">
                    backup {savedId}
                  </Link>
                  .{target && " Restore that backup to undo this restore."}
                </>
              )}
            </p>
          </Notice>
          <RunOutput title="Restore output" text={backup.restore_output ?? ""} />
        </>
      )}
      {drill && (
        <>
          <Notice tone={outcomeTone(drill)}>
            <p>
              Restore drill {drill === "finished" ? "passed" : drill}
              {backup.drilled_at && !isInTransit(drill) && drill !== "interrupted" && (
                <>
                  {" "}
                  <Time value={backup.drilled_at} />
                </>
              )}
              .
            </p>
          </Notice>
          <RunOutput title="Drill output" text={backup.drill_output ?? ""} />
        </>
      )}
      {!drill && backup.drilled_at && (
        <>
          <Notice tone="warn">
            <p>
              Restore drill verified the stored file only <Time value={backup.drilled_at} />. It
              wasn't restored.
            </p>
          </Notice>
          <RunOutput title="Drill output" text={backup.drill_output ?? ""} />
        </>
      )}
      <CopiesPanel backup={backup} configuration={configuration} />
      <RunOutput title="Output" text={backup.output} />
      <Panel title="Properties">
        <Properties items={toProperties(backup, storage)} />
      </Panel>
    </>
  );
}
