import type { Backup, BackupConfiguration } from "../../contract/backups/backup.ts";
import { confirm } from "../app/confirm.ts";
import { toast } from "../app/toasts.ts";
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import {
  backupActionLabels,
  refusal,
  useBackupActions,
  type BackupAction,
} from "./backup-actions.ts";
import { formatBytes, hasExtras } from "./backup-facts.ts";
import { downloads } from "./download.ts";
import { RestoreLoss } from "./RestoreLoss.tsx";

const icons = { restore: "restart", download: "bottom", drill: "check", remove: "trash" } as const;
const keys = { restore: "b", download: "d", drill: "v", remove: "#" } as const;
const order = ["restore", "download", "drill", "remove"] as const satisfies BackupAction[];
/** Of the interface itself, so every service has them. */
const plain: ReadonlySet<BackupAction> = new Set(["restore", "remove"]);

type BackupActionsProps = {
  backup: Backup;
  /** Null while it is not known; the name to type is then the backup's number. */
  configuration: BackupConfiguration | null;
  /** Icons alone, or with their words. */
  look: "icons" | "words";
  /** After a deletion has begun. */
  onRemoved?: () => void;
};

/** Restore, download, drill and delete. What is not possible now stays in place and says why. */
export function BackupActions({ backup, configuration, look, onRemoved }: BackupActionsProps) {
  const actions = useBackupActions();
  const { id } = backup;
  const isDownloading = useStore(downloads).some((download) => download.id === id);
  const press: Record<BackupAction, () => void> = {
    restore: () =>
      confirm({
        title: `Restore backup ${id}?`,
        body: <RestoreLoss backup={backup} configuration={configuration} />,
        typed: configuration?.backupable.name ?? String(id),
        action: "Restore",
        run: async () => {
          await actions.restore(id);
          toast.success(`Backup ${id} is being restored.`);
        },
      }),
    download: () => actions.download(backup),
    drill: () => actions.drill(id),
    remove: () =>
      confirm({
        title: `Delete backup ${id}?`,
        body: (
          <p>
            Its file of {formatBytes(backup.size)} is removed for good:{" "}
            <span className="font-mono text-xs wrap-anywhere">{backup.path || "no file"}</span>
          </p>
        ),
        action: "Delete backup",
        run: async () => {
          await actions.remove(id);
          onRemoved?.();
        },
      }),
  };
  return order.map((action) => {
    if (!hasExtras(backup) && !plain.has(action)) return null;
    // A table has no room for what is asked for once in a while.
    if (look === "icons" && action === "drill") return null;
    const label = backupActionLabels[action];
    return (
      <Button
        key={action}
        size={look === "icons" ? "icon" : "md"}
        variant={look === "icons" ? "ghost" : "secondary"}
        aria-label={`${label} backup ${id}`}
        command={`${label} backup ${id}`}
        keys={keys[action]}
        tip={look === "icons" ? label : undefined}
        disabledReason={refusal(action, backup)}
        isPending={action === "download" && isDownloading}
        onClick={press[action]}
      >
        <Icon name={icons[action]} />
        {look === "words" && <span className={action === "remove" ? "text-bad" : ""}>{label}</span>}
      </Button>
    );
  });
}
