// Imports: a file that Quarterdeck did not make becomes a backup of a database or site.
import * as z from "zod/mini";
import { exactLine, maxInteger, optionalLine, ownId } from "../inputs.ts";

/** A path in a storage, as listed in `importableFiles`. */
const storedPath = exactLine(1024).check(
  z.refine(
    (path) =>
      !path.startsWith("/") &&
      !path.split("/").some((step) => step === "" || step === "." || step === ".."),
    { error: "The path field must be a relative path without “.” and “..”." },
  ),
);

export const importFileBody = z
  .object({
    storage_provider_id: ownId,
    path: storedPath,
  })
  .register(z.globalRegistry, { id: "ImportFile" });

/** Query of a request whose body is the file itself. */
export const uploadQuery = z.object({
  /** The storage of the backup. The uploaded file is kept there until it is imported. */
  storage_provider_id: z.pipe(
    z.string().check(
      z.regex(/^[1-9]\d{0,9}$/, {
        error: `This must be an id: an integer from 1 to ${maxInteger}.`,
      }),
    ),
    z.pipe(z.transform(Number), ownId),
  ),
  /** Name of the file, for the output of the import. */
  name: z.optional(optionalLine(255)),
});

/**
 * Maximum size of an imported file, compressed and decompressed, in a storage that does not report its free space: 1
 * TB.
 */
export const maxImportBytes = 1_000_000_000_000;

/**
 * Minimum rate of an upload, measured in each interval of so many seconds: a slower upload would occupy its place for
 * days.
 */
export const uploadPace = { bytes: 600_000, seconds: 60 } as const;

export const importableFilesQuery = z.object({
  /** Prefix of the paths. */
  prefix: z.optional(optionalLine(1024)),
});

/** Maximum number of files listed. */
export const maxImportableFiles = 500;

/** Files in a storage that Quarterdeck did not store. */
export const importableFiles = z
  .object({
    files: z.array(z.object({ path: z.string(), size: z.int().check(z.gte(0)) })),
    /** False where more files match: a longer prefix finds them. */
    is_complete: z.boolean(),
  })
  .register(z.globalRegistry, { id: "ImportableFiles" });
export type ImportableFiles = z.infer<typeof importableFiles>;
