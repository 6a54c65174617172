// Compression by a machine far away, where it has zstd.
import { CommandMissing, type Host } from "../../hosts/host.ts";

/** As the service compresses by itself: the same level, and zstd's own checksum. */
export const compressCommand = ["zstd", "--quiet", "-3", "--check", "--stdout"] as const;

/** Whether to use it: nothing is gained on the service's own machine. */
export async function compressesThere(host: Host, signal: AbortSignal): Promise<boolean> {
  if (!host.isRemote) return false;
  try {
    return (await host.run({ argv: ["zstd", "--version"], signal })).exitCode === 0;
  } catch (error) {
    if (error instanceof CommandMissing) return false;
    throw error;
  }
}
