// Streams the output of rclone: a file, reconnecting if necessary, or a list.
import { once } from "node:events";
import { PassThrough, type Readable } from "node:stream";
import { toError } from "../to-error.ts";
import {
  describeRcloneFailure,
  folderMissing,
  placeOfRemote,
  runRclone,
  type RcloneOptions,
} from "./rclone-command.ts";
import { heldBytes } from "./rclone-send.ts";
import { maxBreaks, StorageError } from "./storage.ts";

type ReadOptions = { signal: AbortSignal; size?: Promise<number | null> };

/** Separate from StorageError, because it is not an error when only a subfolder was listed. */
export class FolderMissing extends Error {}

/**
 * Streams the output of an rclone command.
 * @param size of the file that the command reads. A reader may pause for minutes, such as a restore that builds an index, and
 * rclone then loses its connection; the rest is read over another one. Omitted when the command does not read a file.
 */
export function readFromRclone(
  options: RcloneOptions,
  args: readonly string[],
  { signal, size }: ReadOptions,
): Readable {
  const { remote } = options;
  const passing = new PassThrough({ highWaterMark: heldBytes });
  const unread = new AbortController();
  passing.once("close", () => unread.abort(new Error("Reading was canceled.")));
  // Without a listener, an error before the caller adds one would crash the process.
  passing.on("error", () => undefined);
  let bytes = 0;
  const run = (more: readonly string[] = []) =>
    runRclone(options, [...args, ...more], {
      async take(piece) {
        bytes += piece.length;
        if (!passing.write(Buffer.from(piece)))
          await once(passing, "drain", { signal: unread.signal });
      },
      signal: AbortSignal.any([signal, unread.signal]),
    });
  async function read(): Promise<void> {
    const isBegun = () => size !== undefined && bytes > 0;
    let end = await run();
    for (let breaks = 1; end.exitCode !== 0 && breaks <= maxBreaks && isBegun();) {
      const from = bytes;
      end = await run([`--offset=${from}`]);
      breaks = bytes > from ? 1 : breaks + 1;
    }
    if (end.exitCode === folderMissing && size === undefined) throw new FolderMissing();
    if (end.exitCode !== 0) throw describeRcloneFailure(remote, end);
    const whole = await size;
    if (whole != null && bytes !== whole)
      throw new StorageError(
        `${placeOfRemote(remote)} returned ${bytes} of ${whole} bytes of a file.`,
      );
    passing.end();
  }
  read().catch((error: unknown) => passing.destroy(toError(error)));
  return passing;
}
