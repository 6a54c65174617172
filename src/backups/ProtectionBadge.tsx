import type { BackupConfiguration } from "../../contract/backups/backup.ts";
import { protectionOf, type Protection } from "../../contract/backups/protection.ts";
import { Badge } from "../ui/Badge.tsx";
import { useClockText } from "../ui/clock.ts";
import type { Tone } from "../ui/tone.ts";

const looks: Record<Protection["state"], { tone: Tone; word: string }> = {
  protected: { tone: "good", word: "protected" },
  late: { tone: "warn", word: "needs attention" },
  unprotected: { tone: "bad", word: "unprotected" },
};

type ProtectionBadgeProps = {
  configuration: BackupConfiguration;
  /** Beside or below the badge, in words. A list says it of problems alone: that all is well is no news. */
  reasonOf?: "none" | "problems" | "all";
};

/** "Am I protected?" for one configuration, and why. */
export function ProtectionBadge({ configuration, reasonOf = "none" }: ProtectionBadgeProps) {
  const answer = (nowMs: number) => protectionOf(configuration, nowMs);
  const reason = useClockText((nowMs) => answer(nowMs).reason);
  const state = useClockText((nowMs) => answer(nowMs).state);
  const { tone, word } = looks[state];
  const hasReason = reasonOf === "all" || (reasonOf === "problems" && state !== "protected");
  return (
    <>
      <Badge tone={tone} tip={reason}>
        {word}
      </Badge>
      {hasReason && <span className="text-sm text-muted">{reason}</span>}
    </>
  );
}
