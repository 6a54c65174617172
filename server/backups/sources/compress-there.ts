// Compression by a machine far away, where it has zstd. On the service's own machine nothing is gained by it.

/** As the service compresses by itself: the same level, and zstd's own checksum. */
export const compressCommand = ["zstd", "--quiet", "-3", "--check", "--stdout"] as const;

/** For a shell: succeeds where the machine has it. */
export const lookForZstd = "zstd --version >/dev/null 2>&1";
