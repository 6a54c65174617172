// What a worker's processes took of the machine over the last hour.
import * as z from "zod/mini";
import { timestamp } from "../values.ts";

export const workerUsage = z
  .object({
    /** Seconds between two samples. */
    every: z.int(),
    processes: z.array(
      z.object({
        /** As of the worker's `process_list`. */
        number: z.int(),
        /** When it was started within the hour. */
        starts: z.array(timestamp),
        /** Oldest first; there is none for the time in which it did not run. */
        samples: z.array(
          z.object({
            at: timestamp,
            /** Of one core, in percent, since the sample before; of the process with all that it started. */
            cpu: z.number(),
            /** Resident bytes, of the process with all that it started. */
            memory: z.number(),
          }),
        ),
      }),
    ),
  })
  .register(z.globalRegistry, { id: "WorkerUsage" });
export type WorkerUsage = z.infer<typeof workerUsage>;
