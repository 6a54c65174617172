/** "512 MB", "23.5 GB"; a megabyte has 1,048,576 bytes here, as in the interface's `memory`. */
export const memoryText = (memoryMb: number): string =>
  memoryMb < 1024 ? `${memoryMb} MB` : `${Number((memoryMb / 1024).toFixed(1))} GB`;
