import type { OverviewRun } from "../../contract/overview-parts.ts";
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { Panel } from "../ui/page/Panel.tsx";
import { Progress } from "../ui/feedback/Progress.tsx";
import { Time } from "../ui/time/Time.tsx";

const words: Record<string, string> = {
  run: "Backing up",
  copy: "Copying",
  import: "Importing",
  restore: "Restoring",
  drill: "Restore drill",
};

/** Running backups, with their progress where it can be estimated. */
export function RunningList({ runs }: { runs: readonly OverviewRun[] }) {
  if (runs.length === 0) return null;
  return (
    <Panel title="Running now">
      <ul>
        {runs.map(({ kind, backup_id: id, configuration, server, started_at: since, share }) => (
          <li
            key={`${kind} ${id}`}
            className="grid min-h-12 content-center gap-1.5 border-b border-line px-4 py-2 text-sm last:border-b-0 max-sm:px-3"
          >
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="text-muted">{words[kind] ?? kind}</span>
              <Link
                to={paths.backup(id)}
                className="font-medium underline decoration-edge underline-offset-4 wrap-anywhere hover:decoration-current"
              >
                {configuration}
              </Link>
              <span className="text-xs text-muted">
                {server} · for <Time value={since} format="duration" />
                {share !== null && ` · about ${Math.floor(share * 100)}%`}
              </span>
            </p>
            <Progress label={`${words[kind] ?? kind} ${configuration}`} share={share} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
