const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** "512 MB", "23.5 GB"; a megabyte has 1,048,576 bytes here, as in the interface's `memory`. */
export const memoryText = (memoryMb: number): string =>
  memoryMb < 1024 ? `${memoryMb} MB` : `${number.format(memoryMb / 1024)} GB`;
