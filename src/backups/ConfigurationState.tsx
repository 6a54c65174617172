// What a configuration amounts to, in one mark, one color and one sentence: its own state as long as that is news, then
// whether it protects.
import type {
  BackupConfiguration,
  BackupConfigurationState,
} from "../../contract/backups/backup.ts";
import { protectionOf, type Protection } from "../../contract/backups/protection.ts";
import { isInTransit } from "../../contract/states.ts";
import { lookUp } from "../look-up.ts";
import { Badge } from "../ui/Badge.tsx";
import { useClockText } from "../ui/clock.ts";
import type { Tone } from "../ui/tone.ts";
import { hasExtras } from "./backup-facts.ts";

type Condition = {
  tone: Tone;
  /** The interface's word, or that of its protection once the interface's is as it should be. */
  word: string;
  reason: string;
  /** What is odd although all is well; stands in place of the reason where there is one sentence only. */
  warning?: string;
};

const protections: Record<Protection["state"], { tone: Tone; word: string }> = {
  protected: { tone: "good", word: "protected" },
  late: { tone: "warn", word: "needs attention" },
  unprotected: { tone: "bad", word: "unprotected" },
};

/** What the states say that are news by themselves. */
const news: Readonly<Record<Exclude<BackupConfigurationState, "installed">, string>> = {
  installing: "Testing the source, the storage and the backup tools.",
  failed: "The source, the storage or a backup tool failed its test.",
  removing: "Deleting the stored files.",
};

/** @param nowMs milliseconds since 1970 */
function conditionOf(configuration: BackupConfiguration, nowMs: number): Condition {
  const { status, status_reason: why } = configuration;
  // By the same word another service may mean something else.
  const reason = hasExtras(configuration) ? lookUp(news, status) : undefined;
  if (isInTransit(status)) return { tone: "busy", word: status, reason: reason ?? "" };
  if (status === "failed") return { tone: "bad", word: status, reason: why ?? reason ?? "" };
  const protection = protectionOf(configuration, nowMs);
  const look = protections[protection.state];
  const [warning, ...others] = configuration.warnings ?? [];
  if (protection.state !== "protected" || warning === undefined)
    return { ...look, reason: protection.reason };
  const count = others.length === 0 ? "" : `${others.length + 1} warnings: `;
  return { ...look, tone: "warn", reason: protection.reason, warning: count + warning };
}

/** The warnings that its reason does not say already. */
export const otherWarnings = (configuration: BackupConfiguration): string[] =>
  (configuration.warnings ?? []).filter(
    (warning) => warning !== conditionOf(configuration, Date.now()).reason,
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
