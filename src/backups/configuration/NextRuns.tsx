import { safetyKeptDays, type BackupSchedule } from "../../../contract/backups/backup.ts";
import { Link } from "../../app/Link.tsx";
import { paths } from "../../paths.ts";
import { linkClass } from "../../ui/text/link-class.ts";
import { Time } from "../../ui/time/Time.tsx";
import { formatBytes } from "../backup-facts.ts";
import { momentInZone, viewersZone } from "../zone-text.ts";

/** The next five runs, in the time zones of the server and the viewer, and what retention removes after the first. */
export function NextRuns({ schedule }: { schedule: BackupSchedule }) {
  const {
    time_zone: zone,
    next_runs: runs,
    clock_change: change,
    removes_next: removed,
  } = schedule;
  return (
    <div className="grid gap-x-8 gap-y-4 px-4 py-3 text-sm max-sm:px-3 lg:grid-cols-2">
      <div className="grid content-start gap-2">
        <h3 className="font-medium">Next runs</h3>
        <p className="text-xs text-muted">
          {zone === viewersZone
            ? `Times in ${zone}.`
            : `Times in ${zone} (server), with ${viewersZone} (yours) in parentheses.`}
        </p>
        <ol className="grid gap-1">
          {runs.map((moment) => (
            <li key={moment} className="flex flex-wrap gap-x-3">
              <span>{momentInZone(new Date(moment), zone)}</span>
              {zone !== viewersZone && (
                <span className="text-muted">({momentInZone(new Date(moment), viewersZone)})</span>
              )}
              <span className="ms-auto text-muted">
                <Time value={moment} format="coming" />
              </span>
            </li>
          ))}
        </ol>
        {change !== null && <p className="text-muted">{change}</p>}
      </div>
      <div className="grid content-start gap-2">
        <h3 className="font-medium">Deleted after the next run</h3>
        {removed.length === 0 ? (
          <p className="text-muted">None</p>
        ) : (
          <ul className="grid gap-1">
            {removed.map(({ id, size, ended_at: at }) => (
              <li key={id} className="flex flex-wrap gap-x-3">
                <Link to={paths.backup(id)} className={linkClass}>
                  Backup {id}
                </Link>
                <span className="text-muted">{formatBytes(size)}</span>
                <span className="ms-auto text-muted">
                  <Time value={at} />
                </span>
              </li>
            ))}
          </ul>
        )}
        <p className="text-xs text-muted">
          Backups made before a restore don't count. They are deleted after {safetyKeptDays} days.
        </p>
      </div>
    </div>
  );
}
