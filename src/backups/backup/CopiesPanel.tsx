// The storages that have a backup, with the state of each copy.
import type { Backup, BackupConfiguration } from "../../../contract/backups/backup.ts";
import { Link } from "../../app/Link.tsx";
import { lookUp } from "../../look-up.ts";
import { paths } from "../../paths.ts";
import { Panel } from "../../ui/page/Panel.tsx";
import { Properties, type Property } from "../../ui/page/Properties.tsx";
import { Time } from "../../ui/time/Time.tsx";
import { awaitedCopy, isCopied, lackingCopy, splitWarnings } from "../copies.ts";
import { CopyAgainButton } from "../CopyAgainButton.tsx";
import { useStorages } from "../storages.ts";

const ofBackup = (id: number) => (
  <Link to={paths.backup(id)} className="underline underline-offset-4">
    backup {id}
  </Link>
);

const words: Readonly<Record<string, string>> = {
  pending: "Waiting",
  running: "Copying",
  finished: "Stored",
  damaged: "Damaged",
  failed: "Failed",
  deleting: "Deleting",
};

/** @param status of a copy; a word of another service is returned unchanged */
const wordOf = (status: string): string => lookUp(words, status) ?? status;

function stateOf(backup: Backup): string {
  const { status, damage, trigger } = backup;
  if (status === "finished" && damage) return "Damaged";
  if (trigger !== "copy" && status === "running")
    return awaitedCopy(backup) === undefined ? "Running" : "Stored";
  return wordOf(status);
}

type CopiesPanelProps = { backup: Backup; configuration: BackupConfiguration | undefined };

/** Renders nothing for a backup without copies whose configuration makes none. */
export function CopiesPanel({ backup, configuration }: CopiesPanelProps) {
  const { storage_provider_id: own } = backup;
  if (own === undefined || !isCopied(backup, configuration)) return null;
  return <Copies backup={backup} configuration={configuration} own={own} />;
}

function Copies({ backup, configuration, own }: CopiesPanelProps & { own: number }) {
  const { copies = [], copy_of_id: ofId, taken_at: takenAt } = backup;
  const { nameOf } = useStorages();
  const lacking = lackingCopy(backup, configuration);
  const items: Property[] = [
    { term: nameOf(own), value: `${stateOf(backup)} (this backup)` },
    ...copies.map(({ id, storage_provider_id: storage, status }) => ({
      term: nameOf(storage),
      value: (
        <>
          {wordOf(status)} ({ofBackup(id)})
        </>
      ),
    })),
    ...(lacking !== null && !copies.some((one) => one.storage_provider_id === lacking)
      ? [{ term: nameOf(lacking), value: "Missing" }]
      : []),
    ...(ofId == null ? [] : [{ term: "Copy of", value: ofBackup(ofId) }]),
    ...(takenAt ? [{ term: "Backed up", value: <Time value={takenAt} /> }] : []),
  ];
  return (
    <Panel
      title="Copies"
      actions={
        lacking !== null ? (
          <CopyAgainButton backupId={backup.id} />
        ) : (
          // Notifications of a failed copy link to its page.
          backup.status === "failed" && ofId != null && <CopyAgainButton backupId={ofId} />
        )
      }
    >
      {splitWarnings(backup, configuration).ofCopies.map((warning) => (
        <p
          key={warning}
          className="border-b border-line px-4 py-3 text-sm wrap-anywhere text-warn max-sm:px-3"
        >
          {warning}
        </p>
      ))}
      <Properties items={items} />
    </Panel>
  );
}
