// Takes off the compression that Node has no part for, by the program of that name on the service's machine.
import { PassThrough, type Readable } from "node:stream";
import { CommandMissing, type Host } from "../../hosts/host.ts";
import { toError } from "../../to-error.ts";
import { SourceError } from "../sources/source.ts";
import { writeTo } from "../../write-to.ts";

const programs = {
  // A file says itself how much memory it takes to unpack; the highest level of xz takes 65 MiB.
  xz: {
    argv: ["xz", "--decompress", "--stdout", "--memlimit-decompress=512MiB"],
    package: "xz-utils",
  },
  bzip2: { argv: ["bzip2", "--decompress", "--stdout"], package: "bzip2" },
} as const;

export type ProgramLayer = keyof typeof programs;

/** The content of a file. The stream breaks with SourceError, or with the error of `from`. */
export function unpackedByProgram(
  host: Pick<Host, "run">,
  layer: ProgramLayer,
  from: Readable,
): Readable {
  const { argv, package: name } = programs[layer];
  const content = new PassThrough();
  // It tells the reader; an error without one would end the service.
  content.on("error", () => undefined);
  const ending = new AbortController();
  content.once("close", () => {
    ending.abort(new Error("Reading was canceled."));
    from.destroy();
  });
  async function run(): Promise<void> {
    try {
      const { exitCode, stderr } = await host.run({
        argv,
        input: from,
        // The memory of a piece is used again.
        take: (piece) => writeTo(content, Buffer.from(piece)),
        signal: ending.signal,
      });
      if (exitCode !== 0)
        throw new SourceError(
          `The file is cut off or damaged: ${layer} couldn't unpack it (${stderr.trim().split("\n").at(-1) ?? ""}). Copy it again.`,
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
