// How much a storage will hold: the present backups and the scheduled ones, after retention.
import * as z from "zod/mini";
import { timestamp } from "../values.ts";

/** How far ahead the forecast looks. */
export const forecastDays = 365;

const bytes = z.int().check(z.gte(0));

/** An extra: a forecast for the storage of a configuration's next backup. */
export const storageForecast = z
  .object({
    /** Null where it is unknown, as for S3. */
    free_bytes: z.nullable(bytes),
    /** Total bytes of all backups in the storage, of every configuration. */
    stored_bytes: bytes,
    /** `stored_bytes` at the end of the forecast. */
    later_bytes: bytes,
    /** When the storage will be full; null = not within the forecast, or its free space is unknown. */
    full_at: z.nullable(timestamp),
    /** Number of configurations that use the storage. */
    configurations: z.int(),
  })
  .register(z.globalRegistry, { id: "StorageForecast" });
export type StorageForecast = z.infer<typeof storageForecast>;
