// The names by which one file, folder or table of a backup can be restored.
import * as z from "zod/mini";
import { exactLine } from "../inputs.ts";

/** Path of a file or folder relative to the site's folder. */
export const partPath = exactLine(4096).check(
  z.refine(
    (path) => path.split("/").every((step) => step !== "" && step !== "." && step !== ".."),
    { error: "The path field must be a relative path without “.” and “..”." },
  ),
);

/** Name of a table, as in the contents of the backup. */
export const partTable = exactLine(255);
