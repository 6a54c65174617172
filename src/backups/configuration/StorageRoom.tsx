// The free space of a storage, and when it will be full.
import { useQuery, keepPreviousData } from "@tanstack/react-query";
import type { BackupConfiguration } from "../../../contract/backups/backup.ts";
import type { StorageForecast } from "../../../contract/backups/storage-forecast.ts";
import { Time } from "../../ui/time/Time.tsx";
import { formatBytes } from "../backup-facts.ts";
import { storageForecastQuery } from "../queries.ts";

export function RoomText({ forecast }: { forecast: StorageForecast }) {
  const { free_bytes: free, stored_bytes: stored, later_bytes: later, full_at: fullAt } = forecast;
  return (
    <>
      <p>
        All backups in this storage take {formatBytes(stored, 2)}
        {free === null ? "." : `, and ${formatBytes(free, 2)} are free.`}
      </p>
      {fullAt === null ? (
        <p className="text-muted">
          In a year they will take about {formatBytes(later, 2)}
          {free === null ? "." : ", for which there is room."}
        </p>
      ) : (
        <p className="text-warn">
          Full <Time value={fullAt} format="coming" /> if backups go on like this. Keep fewer of
          them, or add space.
        </p>
      )}
    </>
  );
}

/** Renders nothing until the service has sent a forecast, and for a service without one. */
export function StorageRoom({ configuration }: { configuration: BackupConfiguration }) {
  const { data: forecast } = useQuery({
    ...storageForecastQuery(configuration),
    placeholderData: keepPreviousData,
  });
  if (!forecast || forecast.stored_bytes === 0) return null;
  return (
    <section
      aria-label="Storage space"
      className="grid content-start gap-1 border-t border-line px-4 py-3 text-sm max-sm:px-3"
    >
      <h3 className="font-medium">Storage space</h3>
      <RoomText forecast={forecast} />
    </section>
  );
}
