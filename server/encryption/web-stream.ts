/** Sends what a source gives through a change of web streams, as age's library has it, and gives what comes out. */
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
