// Copies in S3-compatible storage. The parts are cut here and not by the SDK's own uploader: its parts have one size,
// and with at most 10,000 of them a size that suits a small backup's memory would end at 80 GB.
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  type CompletedPart,
} from "@aws-sdk/client-s3";
import { checksumOf, isConfirmed } from "./s3-checksums.ts";
import { createS3Locks, type S3Lock } from "./s3-locks.ts";
import { cutIntoParts, partBytesAt } from "./s3-parts.ts";
import { createS3Reader } from "./s3-read.ts";
import { bucketMissing, diagnoseS3Error, isMissingObject, isRefused } from "./s3-diagnosis.ts";
import { StorageError, type ListedStorage } from "./storage.ts";

export type S3Options = {
  bucket: string;
  region: string;
  /** Null: Amazon's own. */
  endpoint: string | null;
  accessKey: string;
  secretKey: string;
  /** Left out: nothing is locked but what the bucket locks itself. */
  lock?: S3Lock | undefined;
  /** How long a request may go without progress. */
  idleMs?: number;
};

/**
 * An abort and a deletion after a failure go on although the run's own signal has fired, each for so long: `put` tells
 * its failure within 10 s. What is left then is removed by `remove`, which is asked for again and again.
 */
const cleanUpMs = 4_000;

export function createS3Storage(options: S3Options): ListedStorage {
  const {
    bucket: Bucket,
    region,
    endpoint,
    accessKey,
    secretKey,
    lock = null,
    idleMs = 60_000,
  } = options;
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
      // A part on its way makes progress; this ends one that only trickles. An hour lets a part of 64 MiB pass at 0.15 Mbit/s,
      // at which the system's own buffers empty too slowly for the timeout above.
      requestTimeout: 60 * idleMs,
      throwOnRequestTimeout: true,
    },
  });
  /** Keys of what was put just now, of which the service said the right checksums. */
  const confirmed = new Set<string>();
  const { remove, locks } = createS3Locks({ client, bucket: Bucket, place, lock });
  const get = createS3Reader({ client, bucket: Bucket, place });
  const diagnosed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw diagnoseS3Error(error, place);
    }
  };

  /** Of an object that is not there a service says the same as of a bucket that is not. @throws StorageError where that is so */
  async function refuseMissingBucket(): Promise<void> {
    try {
      await client.send(new HeadBucketCommand({ Bucket }));
    } catch (error) {
      // A key that may not ask has been answered about the object.
      if (isMissingObject(error)) throw bucketMissing(place);
    }
  }

  const size = async (Key: string): Promise<number | null> => {
    try {
      const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
      if (head.ContentLength !== undefined) return head.ContentLength;
    } catch (error) {
      if (!isMissingObject(error)) throw error;
      await refuseMissingBucket();
      return null;
    }
    throw new StorageError(
      `${place} doesn't say how large a file is. Check the endpoint in the inventory.`,
    );
  };

  async function sendPart(
    part: { Bucket: string; Key: string; UploadId: string; PartNumber: number; Body: Buffer },
    abortSignal: AbortSignal,
  ) {
    const checksum = await checksumOf(part.Body);
    const command = new UploadPartCommand({ ...part, ChecksumSHA256: checksum });
    return { answer: await client.send(command, { abortSignal }), checksum };
  }

  /** @returns whether the service confirmed it by a checksum of its own */
  async function putWhole(Key: string, Body: Buffer, abortSignal: AbortSignal): Promise<boolean> {
    const checksum = await checksumOf(Body);
    const command = new PutObjectCommand({ Bucket, Key, Body, ChecksumSHA256: checksum });
    return isConfirmed(await client.send(command, { abortSignal }), Body, checksum, place);
  }

  /** @returns whether the service confirmed every part by a checksum of its own */
  async function upload(
    Key: string,
    parts: AsyncGenerator<Buffer>,
    first: Buffer,
    abortSignal: AbortSignal,
  ): Promise<boolean> {
    const begun = await client.send(
      new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm: "SHA256" }),
      { abortSignal },
    );
    const UploadId = begun.UploadId;
    if (UploadId === undefined) throw new StorageError(`${place} began an upload without an id.`);
    const over = new AbortController();
    const sending = AbortSignal.any([abortSignal, over.signal]);
    try {
      const Parts: CompletedPart[] = [];
      let isWhole = true;
      let bytes = 0;
      let part = first;
      for (;;) {
        const PartNumber = Parts.length + 1;
        const sent = sendPart({ Bucket, Key, UploadId, PartNumber, Body: part }, sending);
        // The next part is filled while this one is on its way; a failure of either ends both.
        const [{ answer, checksum }, next] = await Promise.all([sent, parts.next()]);
        isWhole = isConfirmed(answer, part, checksum, place) && isWhole;
        bytes += part.length;
        const { ETag, ChecksumSHA256 } = answer;
        // One that keeps no checksums need not understand them here.
        Parts.push({ ETag, PartNumber, ...(ChecksumSHA256 !== undefined && { ChecksumSHA256 }) });
        if (next.done === true) break;
        part = next.value;
      }
      await client
        .send(
          new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
          { abortSignal },
        )
        .catch(async (error: unknown) => {
          // Where its answer was lost, or took too long, the upload is over when it is asked again.
          if (abortSignal.aborted || (await size(Key).catch(() => null)) !== bytes) throw error;
        });
      return isWhole;
    } catch (error) {
      // A part that arrives after the abort would stay.
      over.abort();
      // The operator is to hear of the first failure; `remove` tries once more.
      await abort(Key, UploadId, { abortSignal: AbortSignal.timeout(cleanUpMs) }).catch(
        () => undefined,
      );
      throw error;
    }
  }

  /** A part that is not thrown away costs its room for ever, and no list of objects shows it. */
  const abort = (Key: string, UploadId: string, limit: { abortSignal?: AbortSignal } = {}) =>
    client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), limit);

  /** Not every service or key can do that. Where the service may answer the next time, whoever asked asks again. */
  async function abortLeftovers(Key: string): Promise<void> {
    try {
      const list = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
      for (const { Key: found, UploadId } of list.Uploads ?? [])
        if (found === Key && UploadId !== undefined) await abort(Key, UploadId);
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }

  return {
    place,

    put: (key, content, { signal }) =>
      diagnosed(async () => {
        const parts = cutIntoParts(content, partBytesAt(endpoint));
        try {
          const { value: first = Buffer.alloc(0) } = await parts.next();
          const second = await parts.next();
          const isWhole =
            second.done === true
              ? await putWhole(key, first, signal)
              : await upload(key, prepend(second.value, parts), first, signal);
          if (isWhole) confirmed.add(key);
          const stored = await size(key);
          if (stored === null) throw new StorageError(`${place} took ${key} and does not have it.`);
          return stored;
        } catch (error) {
          content.destroy();
          // The answer to the last request may have been lost although it was carried out.
          await client
            .send(new DeleteObjectCommand({ Bucket, Key: key }), {
              abortSignal: AbortSignal.timeout(cleanUpMs),
            })
            .catch(() => undefined);
          signal.throwIfAborted();
          throw error;
        }
      }),

    replace: (key, content, { signal }) =>
      // A service that has taken a whole object replaces the former one at once; until then that one stays.
      diagnosed(async () => void (await putWhole(key, content, signal))),

    readBack: async (key, { signal }) =>
      confirmed.has(key)
        ? { kind: "checksums" }
        : { kind: "read", isFromDisk: () => true, content: await get(key, signal) },

    get: (key, { signal }) => get(key, signal),

    size: (key) => diagnosed(() => size(key)),

    remove: (key) =>
      diagnosed(async () => {
        await remove(key);
        await abortLeftovers(key);
      }),

    locks: {
      days: locks.days,
      until: (key) => diagnosed(() => locks.until(key)),
      extend: (key, until, asked) => diagnosed(() => locks.extend(key, until, asked)),
      check: (asked) => diagnosed(() => locks.check(asked)),
      tryOn: (key, asked) => diagnosed(() => locks.tryOn(key, asked)),
    },

    async *list({ signal, prefix: Prefix }) {
      for (let ContinuationToken: string | undefined; ;) {
        const page = await diagnosed(() =>
          client.send(new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken }), {
            abortSignal: signal,
          }),
        );
        for (const { Key, Size } of page.Contents ?? [])
          if (Key !== undefined) yield { key: Key, sizeBytes: Size ?? 0 };
        ContinuationToken = page.NextContinuationToken;
        if (ContinuationToken === undefined) return;
      }
    },

    freeBytes: async () => null,
  };
}

async function* prepend(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}
