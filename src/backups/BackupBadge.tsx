import type { BackupState } from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { Badge } from "../ui/Badge.tsx";
import type { Tone } from "../ui/tone.ts";

// Restores and drills know the same words.
const tones: Record<BackupState, Tone> = {
  pending: "busy",
  running: "busy",
  finished: "good",
  failed: "bad",
  deleting: "busy",
};

const help: Record<BackupState, string> = {
  pending: "It waits for its turn: a server does one heavy job at a time",
  running: "It is being made",
  finished: "It was stored, read back, and found whole",
  failed: "It did not come to its end; nothing of it was kept",
  deleting: "Its file is being removed",
};

/** A service may know words that we do not, and they are no news either way. */
const isKnown = (word: string): word is BackupState => Object.hasOwn(tones, word);

type BackupBadgeProps = { status: string; tip?: string | undefined };

export function BackupBadge({ status, tip }: BackupBadgeProps) {
  const isMoving = isInTransit(status);
  return (
    <Badge
      tone={isKnown(status) ? tones[status] : isMoving ? "busy" : "idle"}
      isMoving={isMoving}
      tip={tip ?? (isKnown(status) ? help[status] : undefined)}
    >
      {status}
    </Badge>
  );
}
