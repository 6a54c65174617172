/** More than the last lines of a dump take. */
const endBytes = 1024;

/** Keeps the end of a stream, where a dump has its end mark. */
export function keepEnd() {
  let end: Buffer = Buffer.alloc(0);
  return {
    async *watch(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const piece of content) {
        end =
          piece.length >= endBytes
            ? Buffer.from(piece.subarray(-endBytes))
            : Buffer.concat([end, piece]).subarray(-endBytes);
        yield piece;
      }
    },
    /** Returns the end, one character per byte. */
    text: (): string => end.toString("latin1"),
  };
}
