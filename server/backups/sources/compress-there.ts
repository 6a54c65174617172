// zstd as a program of the machine that a source is on: it reads what a tool writes without the service in between.
import { usualCompressionLevel } from "../../../contract/backups/backup.ts";
import type { Host } from "../../hosts/host.ts";
import type { Attempt } from "./source.ts";

/** A dump waits for zstd. A second thread saves it more than a quarter of its time, for 16 MB of memory and no larger files. */
const threads = 2;

/** As the service compresses by itself: the same level, and zstd's own checksum. */
export const compressCommand = ({ compressionLevel }: Pick<Attempt, "compressionLevel">) =>
  [
    "zstd",
    "--quiet",
    `-${compressionLevel ?? usualCompressionLevel}`,
    "--check",
    `--threads=${threads}`,
    "--stdout",
  ] as const;

/** On its way between two programs, where the line is what is slow. */
export const carryingLevel = 1;
export const packSqlCommand = compressCommand({ compressionLevel: carryingLevel });

/** For a shell: succeeds where the machine has it. */
export const lookForZstd = "zstd --version >/dev/null 2>&1";

/** Takes what was compressed by either. */
export const unpackCommand = ["zstd", "--quiet", "--decompress", "--stdout"] as const;

export async function hasZstd(host: Host, signal: AbortSignal): Promise<boolean> {
  return (await host.run({ argv: ["sh", "-c", lookForZstd], signal })).exitCode === 0;
}
