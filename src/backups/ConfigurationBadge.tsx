import type {
  BackupConfiguration,
  BackupConfigurationState,
} from "../../contract/backups/backup.ts";
import { StateBadge, type StateLook } from "../app/StateBadge.tsx";
import { hasExtras } from "./backup-facts.ts";

const looks: Record<BackupConfigurationState, StateLook> = {
  installing: { tone: "busy", help: "Its storage, its source and its tools are being tried." },
  installed: { tone: "good", help: "Its storage, its source and its tools were tried and work." },
  failed: { tone: "bad", help: "Something that it needs does not work." },
  removing: { tone: "busy", help: "Its files are being removed." },
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
