// Imports: a file that Quarterdeck did not make becomes a backup of a database or site.
import * as z from "zod/mini";
import { exactLine, optionalLine, ownId } from "../inputs.ts";

/** A file in a storage, as its list has it. */
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

/** What stands in the address where the body is the file itself. */
export const uploadQuery = z.object({
  /** Where the backup is to be stored; the file waits there until it is imported. */
  storage_provider_id: z.pipe(
    z.string().check(z.regex(/^[1-9]\d{0,9}$/, { error: "This must be an id." })),
    z.pipe(z.transform(Number), ownId),
  ),
  /** What the file is called, for the output. */
  name: z.optional(optionalLine(255)),
});

/** What a file may have, and come to unpacked, in a storage that doesn't tell what is free: 1 TB. */
export const maxImportBytes = 1_000_000_000_000;

/** In each so many seconds that an upload is waited for, so much of it must come: a slower one would keep its place for days. */
export const uploadPace = { bytes: 600_000, seconds: 60 } as const;

export const importableFilesQuery = z.object({
  /** What the paths of the files begin with. */
  prefix: z.optional(optionalLine(1024)),
});

/** So many are listed at the most. */
export const maxImportableFiles = 500;

/** Files of a storage that are none of Quarterdeck's own. */
export const importableFiles = z
  .object({
    files: z.array(z.object({ path: z.string(), size: z.int().check(z.gte(0)) })),
    /** False where there are more: a longer prefix finds them. */
    is_complete: z.boolean(),
  })
  .register(z.globalRegistry, { id: "ImportableFiles" });
export type ImportableFiles = z.infer<typeof importableFiles>;
