// CPU and memory of a worker's processes over the last hour.
import * as z from "zod/mini";
import { timestamp } from "../values.ts";

export const workerUsage = z
  .object({
    /** Seconds between two samples. */
    every: z.int(),
    processes: z.array(
      z.object({
        /** The number in the worker's `process_list`. */
        number: z.int(),
        /** When it was started within the hour. */
        starts: z.array(timestamp),
        /** Oldest first; without samples for times at which it did not run. */
        samples: z.array(
          z.object({
            at: timestamp,
            /** Percent of one core since the previous sample, of the process and its descendants. */
            cpu: z.number(),
            /** Resident bytes of the process and its descendants. */
            memory: z.number(),
          }),
        ),
      }),
    ),
  })
  .register(z.globalRegistry, { id: "WorkerUsage" });
export type WorkerUsage = z.infer<typeof workerUsage>;
