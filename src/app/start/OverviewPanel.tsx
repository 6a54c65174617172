// Lists what needs attention over all servers, or shows one line if nothing does.
import { useQuery } from "@tanstack/react-query";
import { Panel } from "../../ui/page/Panel.tsx";
import { LineDot } from "../../ui/feedback/StatusDot.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { overviewMs, overviewQuery } from "../inventory.ts";
import { Link } from "../Link.tsx";
import { calmLine, messageLines, type OverviewLine, workerLines } from "./overview-lines.ts";
import { FailingFor } from "../FailingFor.tsx";
import { ErrorText } from "../ErrorText.tsx";

const rowClass = "flex min-h-11 items-center gap-3 px-4 py-2 text-sm max-sm:px-3";

function Line({ line: { tone, title, reason, at, isFailing, cure } }: { line: OverviewLine }) {
  return (
    <li className={`${rowClass} border-b border-line last:border-b-0`}>
      <LineDot tone={tone} />
      <div className="min-w-0 flex-1">
        <p className="font-medium wrap-anywhere">{title}</p>
        {(reason !== null || at !== null) && (
          <p className="line-clamp-2 text-xs wrap-anywhere text-muted">
            {reason} {at !== null && (isFailing ? <FailingFor since={at} /> : <Time value={at} />)}
          </p>
        )}
      </div>
      <Link
        to={cure.to}
        className="inline-flex min-h-6 items-center underline decoration-edge underline-offset-4 hover:decoration-current"
      >
        {cure.label}
      </Link>
    </li>
  );
}

function Group({ label, lines }: { label: string; lines: readonly OverviewLine[] }) {
  if (lines.length === 0) return null;
  return (
    <section aria-label={label} className="border-b border-line last:border-b-0">
      <h3 className="border-b border-line bg-sunken px-4 py-1.5 text-xs font-medium text-muted max-sm:px-3">
        {label}
      </h3>
      <ul>
        {lines.map((line) => (
          <Line key={line.key} line={line} />
        ))}
      </ul>
    </section>
  );
}

export function OverviewPanel() {
  const { data: overview, error } = useQuery({
    ...overviewQuery(),
    refetchInterval: overviewMs,
  });
  if (overview === undefined || overview === null)
    return error === null ? null : (
      <Panel>
        <p className={`${rowClass} text-muted`}>
          <span>
            Status unknown: <ErrorText error={error} />
          </span>
        </p>
      </Panel>
    );
  const calm = calmLine(overview);
  const down = workerLines(overview.workers);
  const unnotified = messageLines(overview);
  if (calm === null && down.length + unnotified.length === 0) return null;
  return (
    <Panel>
      <Group label="Down" lines={down} />
      <Group label="Undelivered" lines={unnotified} />
      {calm !== null && (
        <p className={rowClass}>
          <LineDot tone="good" />
          {calm}
        </p>
      )}
    </Panel>
  );
}
