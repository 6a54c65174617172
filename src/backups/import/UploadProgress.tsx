// Shows how much of an upload was sent, and whether it stands still.
import { serviceNow } from "../../service-clock.ts";
import { useClockText } from "../../ui/time/clock.ts";
import { Progress } from "../../ui/feedback/Progress.tsx";
import { formatBytes } from "../backup-facts.ts";

export type Uploading = {
  name: string;
  bytes: number;
  sent: number;
  /** When the last bytes were sent, by the service's clock. */
  sentAtMs: number;
};

/** Longer than a busy service pauses. */
const stillMs = 10_000;

/** Returns the state after a report of progress. A browser may report the same twice. */
export const uploadingAt = (before: Uploading | null, file: File, sent: number): Uploading =>
  before?.sent === sent
    ? before
    : { name: file.name, bytes: file.size, sent, sentAtMs: serviceNow() };

export function UploadProgress({ name, bytes, sent, sentAtMs }: Uploading) {
  const trouble = useClockText((nowMs) => {
    if (nowMs - sentAtMs < stillMs) return "";
    return sent < bytes
      ? "Nothing was sent for 10 seconds. The service, the storage or the network may hang."
      : "Waiting for the service to confirm that the file is stored.";
  });
  return (
    <div className="grid gap-1.5 text-sm text-muted">
      <Progress label={`Upload of ${name}`} share={bytes === 0 ? null : sent / bytes} />
      <p>
        {formatBytes(sent)} of {formatBytes(bytes)} sent. Keep this page open.
      </p>
      <output className="text-ink">{trouble}</output>
    </div>
  );
}
