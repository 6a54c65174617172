import type { Backup } from "../../contract/backups/backup.ts";
import { countOf } from "../../contract/count-text.ts";
import { Progress } from "../ui/feedback/Progress.tsx";
import { formatBytes } from "./backup-facts.ts";
import { awaitedCopy } from "./copies.ts";
import { runShare, type Work } from "./work.ts";

type WorkProgressProps = { work: Work; backups: readonly Backup[] };

/** The running operation of a backup, with its progress estimated from the previous backup. */
export function WorkProgress({ work: { backup, kind }, backups }: WorkProgressProps) {
  const { id, progress, jobs_ahead: ahead } = backup;
  if (kind === "run" && backup.status === "pending")
    return ahead ? (
      <p className="mt-1 text-xs text-muted">{countOf(ahead, "job")} ahead on this server</p>
    ) : null;
  const isCopied = kind === "run" && awaitedCopy(backup) !== undefined;
  const share = kind === "run" && !isCopied ? runShare(backup, backups) : null;
  const words = { run: "Run", restore: `Restore of backup ${id}`, drill: `Drill of backup ${id}` };
  return (
    <div className="mt-1 grid gap-1 text-xs text-muted">
      <Progress label={`${words[kind]}: progress`} share={share} />
      <p className="flex flex-wrap gap-x-2">
        {isCopied ? (
          <span>Stored. Copying to the second storage</span>
        ) : kind === "run" ? (
          <>
            {share !== null && <span>About {Math.floor(share * 100)}%</span>}
            {progress && progress.plain_bytes > 0 && (
              <span>{formatBytes(progress.plain_bytes)} read</span>
            )}
          </>
        ) : (
          <span>{words[kind]} running</span>
        )}
      </p>
    </div>
  );
}
