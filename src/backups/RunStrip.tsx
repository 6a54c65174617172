// The last runs at a glance, one mark a run, newest right. Its shape shows the outcome, colour only repeats it.
import type { ReactNode } from "react";
import type { Backup } from "../../contract/backups/backup.ts";
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { formatBytes } from "./backup-facts.ts";
import { momentInZone, viewersZone } from "./zone-text.ts";

const shownRuns = 30;

type Outcome = "finished" | "failed" | "damaged" | "other";

// Drawn, because forced colours take backgrounds away.
const marks: Record<Outcome, { className: string; shape: ReactNode }> = {
  finished: {
    className: "text-good",
    shape: <rect width="12" height="24" rx="3" fill="currentColor" />,
  },
  failed: {
    className: "text-bad",
    shape: <path d="M2 13 10 22M10 13 2 22" stroke="currentColor" strokeWidth="2.5" />,
  },
  damaged: {
    className: "text-bad",
    shape: (
      <>
        <rect x="1" y="1" width="10" height="22" rx="3" fill="none" stroke="currentColor" />
        <path d="M1 17 11 7" stroke="currentColor" strokeWidth="2" />
      </>
    ),
  },
  other: {
    className: "text-busy",
    shape: <circle cx="6" cy="19" r="3.5" fill="none" stroke="currentColor" strokeWidth="2" />,
  },
};

/** Only these end the same for all services; their other words mean that it goes on. */
const isEnd = (word: string): word is "finished" | "failed" =>
  word === "finished" || word === "failed";

function outcomeOf({ status, damage }: Backup): Outcome {
  if (damage) return "damaged";
  return isEnd(status) ? status : "other";
}

/** E.g. "Backup 12: Thu, 12 Nov, 02:30, finished, 4.1 MB". */
const describe = ({ id, started_at: at, status, size, damage }: Backup): string =>
  [
    `Backup ${id}: ${momentInZone(new Date(at), viewersZone)}`,
    damage ? "damaged" : status,
    ...(status === "finished" ? [formatBytes(size)] : []),
  ].join(", ");

export function RunStrip({ backups }: { backups: readonly Backup[] }) {
  return (
    <ol aria-label="Last runs, oldest first" className="flex min-h-8 flex-wrap items-end">
      {backups
        .slice(0, shownRuns)
        .toReversed()
        .map((backup) => {
          const { className, shape } = marks[outcomeOf(backup)];
          return (
            <li key={backup.id}>
              <Link
                to={paths.backup(backup.id)}
                aria-label={describe(backup)}
                data-tip={describe(backup)}
                className="flex h-8 w-6 items-end justify-center rounded-sm pb-0.5 -outline-offset-2 hover:bg-hover"
              >
                <svg aria-hidden viewBox="0 0 12 24" className={`h-6 w-3 ${className}`}>
                  {shape}
                </svg>
              </Link>
            </li>
          );
        })}
    </ol>
  );
}
