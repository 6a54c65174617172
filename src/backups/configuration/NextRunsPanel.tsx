// The next runs of the schedule in the form.
import { Suspense } from "react";
import { useWatch } from "react-hook-form";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import { cronProblem } from "../../../contract/backups/cron.ts";
import { keepRules } from "../../../contract/backups/keep-rules.ts";
import { Panel } from "../../ui/page/Panel.tsx";
import { Skeleton } from "../../ui/feedback/Skeleton.tsx";
import type { ConfigurationFormValues } from "../form/configuration-form.ts";
import { optionalPart } from "../../app/routing/optional-part.ts";
import { PartMissing } from "../../app/routing/PartMissing.tsx";

const SchedulePreview = optionalPart(
  async () => (await import("../form/SchedulePreview.tsx")).SchedulePreview,
  PartMissing,
);

type NextRunsPanelProps = {
  /** Number of backups kept where the field is empty. */
  heldByDefault: number;
  /** IANA name; null where the service does not return it. */
  timeZone: string | null;
  /** Usual size of a backup; null = unknown. */
  usualBytes: number | null;
  /** Null for a new configuration, and for a service without forecasts. */
  configuration: BackupConfiguration | null;
};

export function NextRunsPanel({
  heldByDefault,
  timeZone,
  usualBytes,
  configuration,
}: NextRunsPanelProps) {
  const frequency = useWatch<ConfigurationFormValues, "frequency">({ name: "frequency" });
  const hold = useWatch<ConfigurationFormValues, "hold">({ name: "hold" });
  const keep = useWatch<ConfigurationFormValues, "keep">({ name: "keep" });
  const incremental = useWatch<ConfigurationFormValues, "incremental">({ name: "incremental" });
  const problem = cronProblem(frequency);
  return (
    <Panel title="Next runs">
      <div className="min-h-48 px-4 py-3">
        {problem === null ? (
          <Suspense fallback={<Skeleton width="w-40" />}>
            <SchedulePreview
              frequency={frequency}
              hold={hold ?? heldByDefault}
              keep={keepRules.safeParse(keep).data ?? null}
              timeZone={timeZone ?? "UTC"}
              // Full and incremental backups have no common usual size; the forecast uses both.
              usualBytes={incremental === true ? null : usualBytes}
              isIncremental={incremental === true}
              configuration={configuration}
            />
          </Suspense>
        ) : (
          <p className="text-sm text-warn">{problem}</p>
        )}
        {timeZone === null && (
          <p className="mt-2 text-sm text-muted">
            The service doesn't report the server's time zone. Times are shown in UTC.
          </p>
        )}
      </div>
    </Panel>
  );
}
