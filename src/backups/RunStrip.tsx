// The last runs at a glance, one mark a run, newest right. Form and height tell the outcome, colour only repeats it.
import type { Backup } from "../../contract/backups/backup.ts";
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { absoluteText } from "../ui/time-text.ts";
import { formatBytes } from "./backup-facts.ts";

const shownRuns = 30;

const marks: Record<string, string> = {
  finished: "h-6 bg-good",
  failed: "h-6 border-2 border-bad bg-transparent",
  damaged: "h-6 border-2 border-bad bg-bad-soft",
  other: "h-3 bg-edge",
};

function markOf({ status, damage }: Backup): string {
  if (damage) return "damaged";
  return status === "finished" || status === "failed" ? status : "other";
}

const describe = (backup: Backup): string => {
  const outcome = backup.damage ? "damaged" : backup.status;
  const size = backup.status === "finished" ? `, ${formatBytes(backup.size)}` : "";
  return `Backup ${backup.id}, ${absoluteText(new Date(backup.started_at))}: ${outcome}${size}`;
};

export function RunStrip({ backups }: { backups: readonly Backup[] }) {
  return (
    <ol aria-label="The last runs, oldest first" className="flex min-h-8 flex-wrap items-end gap-1">
      {backups
        .slice(0, shownRuns)
        .toReversed()
        .map((backup) => (
          <li key={backup.id}>
            <Link
              to={paths.backup(backup.id)}
              aria-label={describe(backup)}
              data-tip={describe(backup)}
              className="flex h-8 w-6 items-end justify-center rounded-sm hover:bg-hover"
            >
              <span className={`block w-3 rounded-sm ${marks[markOf(backup)]}`} />
            </Link>
          </li>
        ))}
    </ol>
  );
}
