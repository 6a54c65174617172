// Holds the output of a program in an unnamed file on the machine where it runs until its size is known, because an archive has
// the size of a file before its content.
import type { Command, Host } from "../../../hosts/host.ts";

type Argv = Command["argv"];

/**
 * Removes the file's name before the program begins, so that nothing is left, whatever ends it. Descriptors up to 4 and from 8
 * have other uses.
 */
const script = `f=$(mktemp -- "$1/dump-XXXXXXXXXX") && exec 5>"$f" 6<"$f" 7<"$f" && rm -f -- "$f" && shift || exit 1
"$@" >&5 || exit
exec 5>&-
wc -c <&6 && exec cat <&7`;

/** @returns a command that writes the size on a line of its own, then the content */
export const spooled = (folder: string, argv: Argv): Argv => [
  "sh",
  "-c",
  script,
  "sh",
  folder,
  ...argv,
];

/**
 * Parses the output of such a command.
 * @param begin called once, with the size, before the first piece
 */
export function createSpoolReader(
  begin: (sizeBytes: number) => Promise<void>,
  take: (piece: Buffer) => Promise<void>,
) {
  let line: string | null = "";
  let leftBytes = 0;
  return {
    async take(piece: Buffer): Promise<void> {
      let content = piece;
      if (line !== null) {
        const end = piece.indexOf("\n");
        line += piece.toString("latin1", 0, end === -1 ? piece.length : end);
        if (end === -1) return;
        leftBytes = Number(line);
        line = null;
        await begin(leftBytes);
        content = piece.subarray(end + 1);
      }
      if (content.length === 0) return;
      leftBytes -= content.length;
      await take(content);
    },
    /** @throws Error where the content is not as long as announced */
    end(): void {
      if (line !== null || leftBytes !== 0)
        throw new Error("A dump has another size than was said of it.");
    },
  };
}

/** @returns free bytes in a folder; null where the machine does not report them */
export async function freeBytesIn(
  host: Host,
  folder: string,
  signal: AbortSignal,
): Promise<number | null> {
  const { stdout } = await host.run({ argv: ["df", "-P", "-k", "--", folder], signal });
  const kilobytes = /\s(\d+)\s+\d+%\s/.exec(stdout.split("\n").at(1) ?? "")?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}
