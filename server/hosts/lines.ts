// Splits untrusted streams into lines.
import type { Readable } from "node:stream";

const maxLineCharacters = 64 * 1024;

/** Calls back with each line. A line that is too long comes in pieces, so that it cannot exhaust the memory. */
export function eachLine(
  stream: Readable,
  onLine: (line: string) => void,
  maxCharacters = maxLineCharacters,
): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.replace(/\r$/, ""));
    for (; rest.length > maxCharacters; rest = rest.slice(maxCharacters))
      onLine(rest.slice(0, maxCharacters));
  });
  stream.on("end", () => {
    if (rest !== "") onLine(rest);
  });
}
