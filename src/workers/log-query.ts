import { queryOptions } from "@tanstack/react-query";
import { callExtra } from "../api/query.ts";
import { appendLog, type LogBuffer } from "./log-buffer.ts";

const firstLines = "1000";

/** A worker's log. Each fetch goes on where the last one ended; null from a service that keeps none. */
export const workerLogQuery = (id: number) =>
  queryOptions({
    queryKey: ["showWorkerLog", { id }],
    queryFn: async ({ client, queryKey }): Promise<LogBuffer | null> => {
      const before = client.getQueryData<LogBuffer | null>(queryKey) ?? undefined;
      const answer = await callExtra(
        "showWorkerLog",
        { id },
        before === undefined ? { lines: firstLines } : { offset: String(before.end) },
      );
      return answer === null ? null : appendLog(before, answer);
    },
    // The buffer shares its lines by itself; comparing thousands of them each second is for nothing.
    structuralSharing: false,
    // Whoever comes back wants the end of the log, not to catch up on all that was written meanwhile.
    gcTime: 0,
  });
