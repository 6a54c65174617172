// Decompresses formats that Node does not support, by programs on the service's machine.
import { PassThrough, type Readable } from "node:stream";
import { endInWords, isKilled } from "../../hosts/end-in-words.ts";
import { CommandMissing, type Host } from "../../hosts/host.ts";
import { toError } from "../../to-error.ts";
import { SourceError } from "../sources/source.ts";
import { writeTo } from "../../write-to.ts";

const programs = {
  // The file itself determines how much memory decompression takes; the highest level of xz takes 65 MiB.
  xz: {
    argv: ["xz", "--decompress", "--stdout", "--memlimit-decompress=512MiB"],
    package: "xz-utils",
  },
  bzip2: { argv: ["bzip2", "--decompress", "--stdout"], package: "bzip2" },
} as const;

export type ProgramLayer = keyof typeof programs;

/** Returns the decompressed content. The stream fails with SourceError, or with the error of `from`. */
export function unpackedByProgram(
  host: Pick<Host, "run">,
  layer: ProgramLayer,
  from: Readable,
): Readable {
  const { argv, package: name } = programs[layer];
  const content = new PassThrough();
  // The reader gets the error; without a listener it would end the service.
  content.on("error", () => undefined);
  const ending = new AbortController();
  content.once("close", () => {
    ending.abort(new Error("Reading was canceled."));
    from.destroy();
  });
  async function run(): Promise<void> {
    try {
      const end = await host.run({
        argv,
        input: from,
        // Copied, because the memory of a piece is reused.
        take: (piece) => writeTo(content, Buffer.from(piece)),
        signal: ending.signal,
      });
      if (isKilled(end))
        throw new SourceError(`The file could not be unpacked: ${layer} ${endInWords(end)}`);
      if (end.exitCode !== 0)
        throw new SourceError(
          `The file is cut off or damaged: ${layer} couldn't unpack it (${end.stderr.trim().split("\n").at(-1) ?? ""}). Copy it again.`,
        );
      content.end();
    } catch (error) {
      const cause =
        error instanceof CommandMissing
          ? new SourceError(
              `The file is compressed by ${layer}, which isn't installed on Quarterdeck's machine. Install it (apt-get install ${name}), or unpack the file first.`,
            )
          : toError(error);
      content.destroy(cause);
    }
  }
  void run();
  return content;
}
