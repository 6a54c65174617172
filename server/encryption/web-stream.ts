/** Pipes an iterable through a web transform stream, as age's library has them, and yields the output. */
export async function* throughWebStream(
  source: AsyncIterable<Uint8Array>,
  change: (stream: ReadableStream<Uint8Array>) => Promise<ReadableStream<Uint8Array>>,
): AsyncGenerator<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  const changed = await change(
    new ReadableStream({
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return?.();
      },
    }),
  );
  for await (const piece of changed) yield piece;
}
