// The names by which one file, folder or table of a backup can be restored.
import * as z from "zod/mini";
import { exactLine } from "../inputs.ts";

/** A file or folder below the site's own. */
export const partPath = exactLine(4096).check(
  z.refine(
    (path) => path.split("/").every((step) => step !== "" && step !== "." && step !== ".."),
    { error: "The path field must be a relative path without “.” and “..”." },
  ),
);

/** As the backup's contents have it. */
export const partTable = exactLine(255);
