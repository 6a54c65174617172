import type {
  BackupConfiguration,
  BackupConfigurationState,
} from "../../contract/backups/backup.ts";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";
import { hasExtras } from "./backup-facts.ts";

const looks: Record<BackupConfigurationState, StateLook> = {
  installing: { tone: "busy", help: "Testing the source, the storage and the backup tools." },
  installed: {
    tone: "good",
    help: "The source, the storage and the backup tools passed their tests.",
  },
  failed: { tone: "bad", help: "The source, the storage or a backup tool failed its test." },
  removing: { tone: "busy", help: "Deleting the stored files." },
};

export function ConfigurationBadge({ configuration }: { configuration: BackupConfiguration }) {
  const { status, status_reason: reason, status_since: since } = configuration;
  return (
    <StateBadge
      isForeign={!hasExtras(configuration)}
      state={status}
      looks={looks}
      reason={reason}
      since={since}
    />
  );
}
