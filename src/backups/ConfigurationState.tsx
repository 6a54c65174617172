// Shows the state of a configuration as a badge and a sentence: its own state where that is unusual, otherwise its
// protection.
import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { Badge } from "../ui/feedback/Badge.tsx";
import { useClockText } from "../ui/time/clock.ts";
import { serviceNow } from "../service-clock.ts";
import { conditionOf } from "./configuration-condition.ts";

/** Returns the warnings that differ from the reason. */
export const otherWarnings = (configuration: BackupConfiguration): string[] =>
  (configuration.warnings ?? []).filter(
    (warning) => warning !== conditionOf(configuration, serviceNow()).reason,
  );

type ConfigurationStateProps = {
  configuration: BackupConfiguration;
  /**
   * The sentence next to or below the badge. Lists use `problems`: a normal state needs none. Pages that show the
   * warnings themselves use `all`, which shows the reason instead of a warning.
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
