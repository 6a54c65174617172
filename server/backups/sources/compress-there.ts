// Commands of zstd on the source's machine, which compress or decompress the data of a tool there.
import { usualCompressionLevel } from "../../../contract/backups/backup.ts";
import type { Host } from "../../hosts/host.ts";
import type { Attempt } from "./source.ts";

/** A second thread makes a dump, which waits for zstd, more than a quarter faster, for 16 MB of memory and no larger files. */
const threads = 2;

/** Compresses as the service does: the same level, with zstd's own checksum. */
export const compressCommand = ({ compressionLevel }: Pick<Attempt, "compressionLevel">) =>
  [
    "zstd",
    "--quiet",
    `-${compressionLevel ?? usualCompressionLevel}`,
    "--check",
    `--threads=${threads}`,
    "--stdout",
  ] as const;

/** Level for a transfer between machines, where the network is the bottleneck. */
export const carryingLevel = 1;
export const packSqlCommand = compressCommand({ compressionLevel: carryingLevel });

/** Shell command that succeeds where the machine has zstd. */
export const lookForZstd = "zstd --version >/dev/null 2>&1";

/** Decompresses the output of the service or of the machine's zstd. */
export const unpackCommand = ["zstd", "--quiet", "--decompress", "--stdout"] as const;

export async function hasZstd(host: Host, signal: AbortSignal): Promise<boolean> {
  return (await host.run({ argv: ["sh", "-c", lookForZstd], signal })).exitCode === 0;
}
