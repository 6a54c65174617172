import type {
  BackupConfiguration,
  BackupConfigurationState,
} from "../../contract/backups/backup.ts";
import { isInTransit } from "../../contract/states.ts";
import { Badge } from "../ui/Badge.tsx";
import type { Tone } from "../ui/tone.ts";

const tones: Record<BackupConfigurationState, Tone> = {
  installing: "busy",
  installed: "good",
  failed: "bad",
  removing: "busy",
};

const help: Record<BackupConfigurationState, string> = {
  installing: "Its storage, its source and its tools are being tried",
  installed: "Its storage, its source and its tools were tried and work",
  failed: "Something that it needs does not work",
  removing: "Its files are being removed",
};

const isKnown = (word: string): word is BackupConfigurationState => Object.hasOwn(tones, word);

export function ConfigurationBadge({ configuration }: { configuration: BackupConfiguration }) {
  const { status, status_reason: reason } = configuration;
  const isMoving = isInTransit(status);
  return (
    <Badge
      tone={isKnown(status) ? tones[status] : isMoving ? "busy" : "idle"}
      isMoving={isMoving}
      tip={reason ?? (isKnown(status) ? help[status] : undefined)}
    >
      {status}
    </Badge>
  );
}
