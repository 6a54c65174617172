// Sizes as people say them.

const units = ["kB", "MB", "GB", "TB", "PB"];

/** E.g. "812 bytes", "4.1 MB"; decimal units. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  let size = bytes;
  let index = -1;
  while (size >= 999.5 && index < units.length - 1) {
    size /= 1000;
    index += 1;
  }
  return `${size >= 100 ? Math.round(size) : Math.round(size * 10) / 10} ${units[index]}`;
}
