// The properties on a backup's page.
import { safetyKeptDays, type Backup } from "../../../contract/backups/backup.ts";
import { Link } from "../../app/Link.tsx";
import { paths } from "../../paths.ts";
import { CopyButton } from "../../ui/button/CopyButton.tsx";
import type { Property } from "../../ui/page/Properties.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { isLocked } from "./backup-actions.ts";
import { formatBytes, hasExtras, runDuration, triggerText } from "../backup-facts.ts";
import { ExcludedList } from "../ExcludedList.tsx";

const safetyEnd = (endedAt: string): string =>
  new Date(Date.parse(endedAt) + safetyKeptDays * 24 * 3600 * 1000).toISOString();

/** @param storage human-readable location; null = unknown */
export function toProperties(backup: Backup, storage: string | null): Property[] {
  const { plain_size: plain, size, checksum } = backup;
  const isFinished = backup.status === "finished";
  const properties: (Property | null)[] = [
    {
      term: backup.status === "pending" ? "Requested" : "Started",
      value: <Time value={backup.started_at} />,
    },
    { term: "Ended", value: backup.ended_at ? <Time value={backup.ended_at} /> : "Not yet" },
    { term: "Duration", value: runDuration(backup) },
    backup.trigger === undefined ? null : { term: "Trigger", value: triggerText(backup.trigger) },
    backup.pinned_at
      ? {
          term: "Pinned",
          value: (
            <>
              <Time value={backup.pinned_at} />. Not deleted until it is unpinned.
            </>
          ),
        }
      : null,
    backup.locked_until && isLocked(backup)
      ? {
          term: "Lock ends",
          value: (
            <>
              <Time value={backup.locked_until} format="coming" />. Its storage refuses to delete it
              before.
            </>
          ),
        }
      : null,
    isFinished && backup.trigger === "safety" && backup.ended_at && !backup.pinned_at
      ? {
          term: "To be deleted",
          value: <Time value={safetyEnd(backup.ended_at)} format="coming" />,
        }
      : null,
    isFinished ? { term: "Size", value: formatBytes(size) } : null,
    isFinished && backup.base_id !== undefined
      ? {
          term: "Kind",
          value: backup.base_id ? (
            <>
              Incremental, needs{" "}
              <Link to={paths.backup(backup.base_id)} className="underline underline-offset-4">
                backup {backup.base_id}
              </Link>
            </>
          ) : (
            "Full"
          ),
        }
      : null,
    isFinished && plain
      ? {
          term: "Before compression",
          value: `${formatBytes(plain)} (${(plain / Math.max(1, size)).toFixed(1)} : 1)`,
        }
      : null,
    isFinished && backup.encrypted
      ? { term: "Encryption", value: "age. Only your private key opens the file." }
      : null,
    backup.excluded
      ? {
          term: "Excluded",
          value: (
            <ExcludedList
              lines={[
                ...backup.excluded.patterns,
                ...(backup.excluded.caches ? ["Folders with a CACHEDIR.TAG"] : []),
              ]}
            />
          ),
        }
      : null,
    isFinished && hasExtras(backup)
      ? {
          term: "Last verified",
          value: backup.verified_at ? <Time value={backup.verified_at} /> : "When stored",
        }
      : null,
    storage === null ? null : { term: "Storage", value: storage },
    backup.path === ""
      ? null
      : { term: "Path", value: <span className="font-mono text-xs">{backup.path}</span> },
    checksum
      ? {
          term: "SHA-256",
          value: (
            <span className="inline-flex items-center gap-1">
              <span className="font-mono text-xs wrap-anywhere">{checksum.slice(0, 16)}…</span>
              <CopyButton label="Copy checksum" text={() => checksum} />
            </span>
          ),
        }
      : null,
  ];
  return properties.filter((property) => property !== null);
}
