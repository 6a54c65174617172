// Reads what rclone writes: a file, over as many connections as it takes, or a list.
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

/** Not an error of the storage where only some folder of it was asked for. */
export class FolderMissing extends Error {}

/**
 * What rclone writes, from its first byte on.
 * @param size of the file that it reads: a reader may take nothing for minutes, e.g. a restore while an index is built, and then
 * the rest comes over another connection; left out: it is no file
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
  // Whoever gets it hears of its error; until then nobody does.
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
    const { exitCode, stderr } = end;
    if (exitCode === folderMissing && size === undefined) throw new FolderMissing();
    if (exitCode !== 0) throw describeRcloneFailure(remote, stderr);
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
