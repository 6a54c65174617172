import { useNavigate } from "react-router";
import {
  runningWork,
  type Backup,
  type BackupConfiguration,
} from "../../../contract/backups/backup.ts";
import { confirm } from "../../app/confirm.ts";
import { paths } from "../../paths.ts";
import { Button } from "../../ui/button/Button.tsx";
import { handFocusOn } from "../../ui/focus/hand-focus-on.ts";
import { Icon } from "../../ui/Icon.tsx";
import {
  backupActionLabels,
  refusal,
  useBackupActions,
  type BackupAction,
} from "./backup-actions.ts";
import { formatBytes, hasExtras } from "../backup-facts.ts";
import { askCancel } from "../cancel-question.tsx";
import { askRestore } from "./restore-question.tsx";

const icons = {
  restore: "restart",
  elsewhere: "server",
  download: "bottom",
  drill: "check",
  pin: "pin",
  unpin: "unpin",
  cancel: "stop",
  remove: "trash",
} as const;
const keys = {
  restore: "b",
  elsewhere: "t",
  download: "d",
  drill: "v",
  pin: "p",
  unpin: "p",
  cancel: "x",
  remove: "#",
} as const;
const order = [
  "restore",
  "elsewhere",
  "download",
  "drill",
  "pin",
  "unpin",
  "cancel",
  "remove",
] as const satisfies BackupAction[];
/** Actions of the interface itself, which every service supports. */
const plain: ReadonlySet<BackupAction> = new Set(["restore", "remove"]);
/** Rare actions, which a table has no room for. */
const onItsPage: ReadonlySet<BackupAction> = new Set(["elsewhere", "drill", "pin", "unpin"]);

type BackupActionsProps = {
  backup: Backup;
  /** Null while it is unknown; the text to type is then the backup's id. */
  configuration: BackupConfiguration | null;
  /** Icons alone, or with their labels. */
  look: "icons" | "words";
  /** Called when a deletion has begun. */
  onRemoved?: () => void;
};

/** The actions on a backup. Those that are impossible now are disabled with a reason. */
export function BackupActions({ backup, configuration, look, onRemoved }: BackupActionsProps) {
  const actions = useBackupActions();
  const navigate = useNavigate();
  const { id } = backup;
  const press: Record<BackupAction, () => void> = {
    restore: () => askRestore(backup, configuration),
    elsewhere: () => void navigate(paths.restoreElsewhere(id)),
    download: () => actions.download(backup),
    drill: () => actions.drill(id),
    pin: () => actions.pin({ id, isPinned: true }),
    unpin: () => actions.pin({ id, isPinned: false }),
    cancel: () => askCancel(backup),
    remove: () =>
      confirm({
        title: `Delete backup ${id}?`,
        body: (
          <p>
            Permanently deletes the stored file ({formatBytes(backup.size)}):{" "}
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
    if (look === "icons" && onItsPage.has(action)) return null;
    if (action === (backup.pinned_at ? "pin" : "unpin")) return null;
    // Older versions of the service have neither pins nor other targets.
    if (action === "pin" && backup.pinned_at === undefined) return null;
    if (action === "elsewhere" && backup.restore_target === undefined) return null;
    if (look === "icons" && action === "cancel" && runningWork(backup) === null) return null;
    const label = backupActionLabels[action];
    const button = (
      <Button
        // Pin and unpin share a key, so that the focus stays when one replaces the other.
        key={action === "unpin" ? "pin" : action}
        size={look === "icons" ? "icon" : "md"}
        variant={look === "icons" ? "ghost" : "secondary"}
        command={{ label: `${label} backup ${id}`, name: label, key: keys[action] }}
        disabledReason={refusal(action, backup)}
        isPending={
          (action === "download" && actions.isDownloading) ||
          ((action === "pin" || action === "unpin") && actions.isPinning)
        }
        onClick={press[action]}
      >
        <Icon name={icons[action]} />
        {look === "words" && <span className={action === "remove" ? "text-bad" : ""}>{label}</span>}
      </Button>
    );
    if (look === "words" || action !== "cancel") return button;
    // Cancel disappears once nothing is running, which is what it was pressed for.
    return (
      <span key={action} ref={handFocusOn} className="contents">
        {button}
      </span>
    );
  });
}
