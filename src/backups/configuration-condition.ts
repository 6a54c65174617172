// Summarizes the state of a configuration: a word, its tone, and one sentence. Pure.
import type {
  BackupConfiguration,
  BackupConfigurationState,
} from "../../contract/backups/backup.ts";
import { protectionOf, type Protection } from "../../contract/backups/protection.ts";
import { isInTransit } from "../../contract/states.ts";
import { lookUp } from "../look-up.ts";
import type { Tone } from "../ui/feedback/tone.ts";
import { hasExtras } from "./backup-facts.ts";

type Condition = {
  tone: Tone;
  /** The status or, where that is normal, the protection. */
  word: string;
  reason: string;
  /** A problem of a protected source; shown instead of the reason where there is room for one sentence only. */
  warning?: string;
};

const protections: Record<Protection["state"], { tone: Tone; word: string }> = {
  protected: { tone: "good", word: "protected" },
  late: { tone: "warn", word: "needs attention" },
  unprotected: { tone: "bad", word: "unprotected" },
};

export const protectionLook = ({ state, warning }: Pick<Protection, "state" | "warning">) =>
  protections[warning === null ? state : "late"];

/** Texts of the states other than the normal one. */
const news: Readonly<Record<Exclude<BackupConfigurationState, "installed">, string>> = {
  installing: "Testing the source, the storage and the backup tools.",
  failed: "The source, the storage or a backup tool failed its test.",
  removing: "Deleting the stored files.",
};

/** An adopted configuration makes no backups, so it is neither protected nor late. */
function adoptedCondition({ warnings = [], backups }: BackupConfiguration): Condition {
  const [warning] = warnings;
  return {
    tone: warning === undefined ? "idle" : "warn",
    // The newest backup may be a safety backup.
    word: backups.some(({ trigger }) => trigger === "import") ? "imported" : "adopted",
    reason: "No schedule, and retention deletes nothing.",
    ...(warning !== undefined && { warning }),
  };
}

/** @param nowMs milliseconds since 1970 */
export function conditionOf(configuration: BackupConfiguration, nowMs: number): Condition {
  const { status, status_reason: why } = configuration;
  // Another service may use the same word differently.
  const reason = hasExtras(configuration) ? lookUp(news, status) : undefined;
  if (isInTransit(status)) return { tone: "busy", word: status, reason: reason ?? "" };
  if (status === "failed") return { tone: "bad", word: status, reason: why ?? reason ?? "" };
  if (configuration.adopted_at) return adoptedCondition(configuration);
  const protection = protectionOf(configuration, nowMs);
  const { reason: sentence, warning } = protection;
  return { ...protectionLook(protection), reason: sentence, ...(warning !== null && { warning }) };
}
