// What a configuration amounts to, in one mark, one color and one sentence: its own state as long as that is news, then
// whether it protects.
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { Badge } from "../ui/Badge.tsx";
import { useClockText } from "../ui/clock.ts";
import { serviceNow } from "../service-clock.ts";
import { conditionOf } from "./configuration-condition.ts";

/** The warnings that its reason does not say already. */
export const otherWarnings = (configuration: BackupConfiguration): string[] =>
  (configuration.warnings ?? []).filter(
    (warning) => warning !== conditionOf(configuration, serviceNow()).reason,
  );

type ConfigurationStateProps = {
  configuration: BackupConfiguration;
  /**
   * The sentence beside or below the mark. A list has it of problems and warnings alone: that all is well is no news. A
   * page that shows the warnings themselves has the reason.
   */
  reasonOf?: "none" | "problems" | "all";
};

export function ConfigurationState({ configuration, reasonOf = "none" }: ConfigurationStateProps) {
  const condition = (nowMs: number) => conditionOf(configuration, nowMs);
  const word = useClockText((nowMs) => condition(nowMs).word);
  const reason = useClockText((nowMs) => {
    const { reason: why, warning } = condition(nowMs);
    return reasonOf === "all" ? why : (warning ?? why);
  });
  const tone = useClockText((nowMs) => condition(nowMs).tone);
  const hasReason =
    reason !== "" && (reasonOf === "all" || (reasonOf === "problems" && tone !== "good"));
  return (
    <>
      <Badge
        tone={tone}
        isMoving={isInTransit(configuration.status)}
        tip={reason || undefined}
        since={
          word === configuration.status ? (configuration.status_since ?? undefined) : undefined
        }
      >
        {word}
      </Badge>
      {hasReason && <span className="line-clamp-3 text-sm wrap-anywhere text-muted">{reason}</span>}
    </>
  );
}
