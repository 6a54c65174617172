/** More than a dump's last lines. */
const endBytes = 1024;

/** Keeps the end of what passes, where a dump says that it is whole. */
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
    /** One character a byte. */
    text: (): string => end.toString("latin1"),
  };
}
