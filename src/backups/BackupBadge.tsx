import type { Backup, BackupState } from "../../contract/backups/backup.ts";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";
import { hasExtras } from "./backup-facts.ts";

const looks: Record<BackupState, StateLook> = {
  pending: { tone: "busy", help: "Queued. Each server runs one backup or restore at a time." },
  running: { tone: "busy", help: "Backup in progress." },
  finished: { tone: "good", help: "Stored completely, with a checksum." },
  failed: { tone: "bad", help: "The backup didn't finish. Nothing was kept." },
  deleting: { tone: "busy", help: "Deleting the stored file." },
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
