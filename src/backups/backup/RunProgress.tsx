import { useState } from "react";
import type { Backup } from "../../../contract/backups/backup.ts";
import { Link } from "../../app/Link.tsx";
import { paths } from "../../paths.ts";
import { useClockText } from "../../ui/time/clock.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { Progress } from "../../ui/feedback/Progress.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { formatBytes } from "../backup-facts.ts";
import { awaitedCopy } from "../copies.ts";
import { makeRateMeter } from "./rate-meter.ts";

type RunProgressProps = {
  backup: Backup;
  /** Bytes before compression of the previous finished backup; null = unknown. */
  usualBytes: number | null;
};

/** The progress of a run, or that it has stored its file and waits for its copy. */
export function RunProgress({ backup, usualBytes }: RunProgressProps) {
  const copy = awaitedCopy(backup);
  if (copy === undefined) return <Reading backup={backup} usualBytes={usualBytes} />;
  return (
    <Notice tone="busy">
      <p>
        Stored. {copy.status === "pending" ? "Waiting to be copied" : "Copying"} to the second
        storage as{" "}
        <Link to={paths.backup(copy.id)} className="underline underline-offset-4">
          backup {copy.id}
        </Link>
        .
      </p>
    </Notice>
  );
}

/** The total is estimated from the previous backup, and labeled as an estimate. */
function Reading({ backup, usualBytes }: RunProgressProps) {
  const plain = backup.progress?.plain_bytes ?? 0;
  const stored = backup.progress?.stored_bytes ?? 0;
  const [meter] = useState(makeRateMeter);
  const rate = useClockText((nowMs) => {
    const bytesPerSecond = meter(plain, nowMs);
    return bytesPerSecond === null ? "" : `${formatBytes(bytesPerSecond)}/s`;
  });
  const isMore = usualBytes !== null && plain > usualBytes;
  const share = usualBytes === null || usualBytes === 0 || isMore ? null : plain / usualBytes;
  return (
    <div className="grid gap-2.5 rounded-lg border border-line bg-raised px-4 py-3 max-sm:px-3">
      <Progress label="Progress" share={share} />
      <p className="flex flex-wrap gap-x-4 text-sm text-muted">
        {usualBytes !== null && (
          <span className="text-ink">
            {share === null
              ? `Larger than the last backup (${formatBytes(usualBytes)})`
              : `About ${Math.floor(share * 100)}% of the last backup (${formatBytes(usualBytes)})`}
          </span>
        )}
        <span>
          {formatBytes(plain)} read, {formatBytes(stored)} stored
        </span>
        <span>{rate}</span>
        <span className="ms-auto">
          for <Time value={backup.started_at} format="duration" />
        </span>
      </p>
    </div>
  );
}
