import type { Backup } from "../../contract/backups/backup.ts";
import { useClockText } from "../ui/clock.ts";
import { Time } from "../ui/Time.tsx";
import { formatBytes } from "./backup-facts.ts";

type RunProgressProps = {
  backup: Backup;
  /** Bytes before compression of the finished backup before it; null = there is none to compare with. */
  usualBytes: number | null;
};

/** How far a run is. How far it has to go is a guess from the one before, and is called so. */
export function RunProgress({ backup, usualBytes }: RunProgressProps) {
  const plain = backup.progress?.plain_bytes ?? 0;
  const stored = backup.progress?.stored_bytes ?? 0;
  const startedMs = Date.parse(backup.started_at);
  const rate = useClockText((nowMs) =>
    formatBytes(plain / Math.max(1, Math.round((nowMs - startedMs) / 1000))),
  );
  const share = usualBytes === null || usualBytes === 0 ? null : Math.min(0.99, plain / usualBytes);
  return (
    <div className="grid gap-2 rounded-lg border border-line bg-raised px-4 py-3 max-sm:px-3">
      <progress
        aria-label="Progress"
        className="h-2 w-full accent-accent"
        {...(share === null ? {} : { value: share, max: 1 })}
      />
      <p className="flex flex-wrap gap-x-4 text-sm text-muted">
        <span>
          {formatBytes(plain)} read, {formatBytes(stored)} stored
        </span>
        <span>{rate} a second</span>
        {usualBytes !== null && <span>the last one read {formatBytes(usualBytes)}</span>}
        <span className="ml-auto">
          for <Time value={backup.started_at} format="duration" />
        </span>
      </p>
    </div>
  );
}
