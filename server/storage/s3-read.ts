// Reads an object of S3-compatible storage, reconnecting if necessary.
import { GetObjectCommand, type GetObjectCommandInput, type S3Client } from "@aws-sdk/client-s3";
import type { Readable } from "node:stream";
import { diagnoseS3Error, type S3Place } from "./s3-diagnosis.ts";
import { maxBreaks, StorageError } from "./storage.ts";
import { streamOf } from "./stream-of.ts";

type S3ReaderOptions = S3Place & { client: S3Client; bucket: string };

export function createS3Reader({ client, bucket: Bucket, place, settings }: S3ReaderOptions) {
  const request = async (
    Key: string,
    abortSignal: AbortSignal,
    rest: Pick<GetObjectCommandInput, "Range" | "IfMatch"> = {},
  ) => {
    const found = await client.send(new GetObjectCommand({ Bucket, Key, ...rest }), {
      abortSignal,
    });
    // In Node the SDK's body is a Node stream.
    const body = found.Body as Readable;
    // Without a listener, an error before the caller adds one would crash the process.
    body.on("error", () => undefined);
    return { ...found, body };
  };

  /**
   * Streams an object. A restore may pause reading for minutes, for example while an index is built, and the client or the
   * service closes the connection; the rest is read over another one.
   */
  async function* read(
    key: string,
    whole: Awaited<ReturnType<typeof request>>,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer> {
    let { body } = whole;
    for (let at = 0, breaks = 0; ;) {
      const from = at;
      try {
        const pieces: AsyncIterable<Buffer> = body;
        for await (const piece of pieces) {
          at += piece.length;
          yield piece;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        breaks = at > from ? 1 : breaks + 1;
        // Any other error comes from the reader.
        if (body.errored !== error || breaks > maxBreaks) throw error;
      }
      if (at === whole.ContentLength) return;
      const rest = await request(key, signal, { Range: `bytes=${at}-`, IfMatch: whole.ETag });
      ({ body } = rest);
      if (rest.ContentRange?.startsWith(`bytes ${at}-`) === true && rest.ETag === whole.ETag)
        continue;
      body.destroy();
      throw new StorageError(
        `${place} closed the connection, and doesn't give the rest of a file.`,
      );
    }
  }

  async function* inWords(pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* pieces;
    } catch (error) {
      throw diagnoseS3Error(error, { place, settings });
    }
  }

  /**
   * Errors of the returned stream are translated, too.
   * @throws StorageError
   */
  return async (key: string, signal: AbortSignal): Promise<Readable> => {
    const unread = new AbortController();
    const reading = AbortSignal.any([signal, unread.signal]);
    const whole = await request(key, reading).catch((error: unknown) => {
      throw diagnoseS3Error(error, { place, settings });
    });
    return streamOf(inWords(read(key, whole, reading)), () =>
      unread.abort(new Error("Reading was canceled.")),
    );
  };
}
