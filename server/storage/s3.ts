// Copies in S3-compatible storage. The parts are cut here and not by the SDK's own uploader: its parts have one size,
// and with at most 10,000 of them a size that suits a small backup's memory would end at 80 GB.
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { Readable } from "node:stream";
import { cutIntoParts } from "./s3-parts.ts";
import { isMissingObject, tellS3Trouble } from "./s3-trouble.ts";
import { StorageError, type Storage } from "./storage.ts";

export type S3Options = {
  bucket: string;
  region: string;
  /** Null: Amazon's own. */
  endpoint: string | null;
  accessKey: string;
  secretKey: string;
  /** How long a request may go without progress. */
  idleMs?: number;
};

/** Aborts and deletions after a failure go on although the run's own signal has fired, but not for ever. */
const cleanUpMs = 30_000;

export function createS3Storage(options: S3Options): Storage {
  const { bucket: Bucket, region, endpoint, accessKey, secretKey, idleMs = 60_000 } = options;
  const place = `bucket ${Bucket} at ${endpoint ?? "Amazon S3"}`;
  const client = new S3Client({
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    // Several services that speak S3 refuse the trailers that the SDK would add by itself.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 10_000,
      socketTimeout: idleMs,
      // A part on its way makes progress; this ends one that only trickles.
      requestTimeout: 10 * idleMs,
      throwOnRequestTimeout: true,
    },
  });
  const told = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw tellS3Trouble(error, place);
    }
  };

  const size = async (Key: string): Promise<number | null> => {
    try {
      const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
      return head.ContentLength ?? null;
    } catch (error) {
      if (isMissingObject(error)) return null;
      throw error;
    }
  };

  async function upload(
    Key: string,
    parts: AsyncGenerator<Buffer>,
    first: Buffer,
    abortSignal: AbortSignal,
  ): Promise<void> {
    const begun = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }), {
      abortSignal,
    });
    const UploadId = begun.UploadId;
    if (UploadId === undefined) throw new StorageError(`${place} began an upload without an id.`);
    try {
      const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
      let part = first;
      for (;;) {
        const PartNumber = Parts.length + 1;
        const sent = client.send(
          new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body: part }),
          { abortSignal },
        );
        // The next part is filled while this one is on its way; a failure of either ends both.
        const [{ ETag }, next] = await Promise.all([sent, parts.next()]);
        Parts.push({ ETag, PartNumber });
        if (next.done === true) break;
        part = next.value;
      }
      await client.send(
        new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
        { abortSignal },
      );
    } catch (error) {
      await abort(Key, UploadId);
      throw error;
    }
  }

  /** A part that is not thrown away costs its room for ever, and no list of objects shows it. */
  const abort = (Key: string, UploadId: string): Promise<unknown> =>
    client
      .send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), {
        abortSignal: AbortSignal.timeout(cleanUpMs),
      })
      // The failure before this one is what the operator is to hear of; `remove` tries once more.
      .catch(() => undefined);

  async function abortLeftovers(Key: string): Promise<void> {
    const list = await client
      .send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }))
      // Not every service can list them; those that cannot forget them after some days.
      .catch(() => null);
    for (const { Key: found, UploadId } of list?.Uploads ?? [])
      if (found === Key && UploadId !== undefined) await abort(Key, UploadId);
  }

  return {
    place,

    put: (key, content, { signal }) =>
      told(async () => {
        const parts = cutIntoParts(content);
        try {
          const { value: first = Buffer.alloc(0) } = await parts.next();
          const second = await parts.next();
          if (second.done === true)
            await client.send(new PutObjectCommand({ Bucket, Key: key, Body: first }), {
              abortSignal: signal,
            });
          else await upload(key, prepend(second.value, parts), first, signal);
        } catch (error) {
          content.destroy();
          signal.throwIfAborted();
          // The answer to the last request may have been lost although it was carried out.
          await client.send(new DeleteObjectCommand({ Bucket, Key: key })).catch(() => undefined);
          throw error;
        }
        const stored = await size(key);
        if (stored === null) throw new StorageError(`${place} took ${key} and does not have it.`);
        return stored;
      }),

    get: (key, { signal }) =>
      told(async () => {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key }), {
          abortSignal: signal,
        });
        // In Node the SDK's body is a stream of Node's.
        const stream = Body as Readable;
        return stream;
      }),

    size: (key) => told(() => size(key)),

    remove: (key) =>
      told(async () => {
        await client.send(new DeleteObjectCommand({ Bucket, Key: key }));
        await abortLeftovers(key);
      }),

    freeBytes: async () => null,
  };
}

async function* prepend(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}
