import type { Backup, BackupState } from "../../contract/backups/backup.ts";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";
import { hasExtras } from "./backup-facts.ts";

const looks: Record<BackupState, StateLook> = {
  pending: { tone: "busy", help: "It waits for its turn: a server does one heavy job at a time." },
  running: { tone: "busy", help: "It is being made." },
  finished: { tone: "good", help: "It was stored whole, and its checksum is kept." },
  failed: { tone: "bad", help: "It did not come to its end; nothing of it was kept." },
  deleting: { tone: "busy", help: "Its file is being removed." },
};

/** The state of a run. */
export function BackupBadge({ backup }: { backup: Backup }) {
  const { status, status_reason: reason, started_at: startedAt, ended_at: endedAt } = backup;
  return (
    <StateBadge
      isForeign={!hasExtras(backup)}
      state={status}
      looks={looks}
      reason={reason}
      since={endedAt ?? startedAt}
    />
  );
}
