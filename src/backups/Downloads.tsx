import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Progress } from "../ui/Progress.tsx";
import { formatBytes } from "./backup-facts.ts";
import { type Download, downloads } from "./download.ts";

function DownloadProgress({ download }: { download: Download }) {
  const { id, name, receivedBytes, totalBytes, stop } = download;
  return (
    <div className="flex items-center gap-3 rounded-lg border border-line bg-raised px-4 py-2.5 max-sm:px-3">
      <div className="grid min-w-0 flex-1 gap-1.5">
        <p className="flex flex-wrap gap-x-4 text-sm text-muted">
          <span className="truncate font-mono text-xs text-ink">{name}</span>
          <span className="ms-auto">
            {formatBytes(receivedBytes)} of {formatBytes(totalBytes)}
          </span>
        </p>
        <Progress
          label={`Download of backup ${id}`}
          share={totalBytes === 0 ? null : receivedBytes / totalBytes}
        />
      </div>
      <Button size="sm" aria-label={`Stop the download of backup ${id}`} onClick={stop}>
        Stop
      </Button>
    </div>
  );
}

/** The downloads under way, whichever page they were begun on. */
export function Downloads() {
  return useStore(downloads).map((download) => (
    <DownloadProgress key={download.id} download={download} />
  ));
}
