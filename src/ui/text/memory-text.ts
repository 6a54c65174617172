/** "512 MB", "23.5 GB"; here a megabyte is 1,048,576 bytes, as in the interface's `memory`. */
export const memoryText = (memoryMb: number): string =>
  memoryMb < 1024 ? `${memoryMb} MB` : `${Number((memoryMb / 1024).toFixed(1))} GB`;
