// Stores backups in S3-compatible storage. The parts are cut here instead of by the SDK's uploader, whose parts have one size:
// with at most 10,000 parts, a size that suits the memory of a small backup would end at 80 GB.
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
import {
  bucketMissing,
  diagnoseS3Error,
  inInventory,
  isMissingObject,
  isRefused,
  type S3Settings,
} from "./s3-diagnosis.ts";
import { StorageError, type ListedStorage } from "./storage.ts";

export type S3Options = {
  bucket: string;
  region: string;
  /** Null = Amazon's own. */
  endpoint: string | null;
  accessKey: string;
  secretKey: string;
  /** Omitted = nothing is locked except by the bucket itself. */
  lock?: S3Lock | undefined;
  /** How long a request may go without progress; milliseconds. */
  idleMs?: number;
  /** Omitted = the inventory's. */
  settings?: S3Settings;
};

/**
 * Time limit of an abort and of a deletion after a failure, which run even after the run's own signal was aborted: `put` has to
 * report its failure within 10 s. `remove`, which is retried, deletes what is left.
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
    settings = inInventory,
  } = options;
  const place = `bucket ${Bucket} at ${endpoint ?? "Amazon S3"}`;
  const client = new S3Client({
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    ...(endpoint !== null && { endpoint, forcePathStyle: true }),
    // Several S3-compatible services reject the checksum trailers that the SDK would add by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 10_000,
      socketTimeout: idleMs,
      // The timeout above does not end an upload that only trickles; this one does. An hour lets a part of 64 MiB pass at 0.15
      // Mbit/s, at which the system's own buffers empty too slowly for the timeout above.
      requestTimeout: 60 * idleMs,
      throwOnRequestTimeout: true,
    },
  });
  /** Keys of objects that were just stored, and whose checksums the service confirmed. */
  const confirmed = new Set<string>();
  const { remove, locks } = createS3Locks({ client, bucket: Bucket, place, lock });
  const get = createS3Reader({ client, bucket: Bucket, place, settings });
  const diagnosed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw diagnoseS3Error(error, { place, settings });
    }
  };

  /**
   * A service reports a missing bucket like a missing object, so this checks the bucket.
   * @throws StorageError where the bucket does not exist
   */
  async function refuseMissingBucket(): Promise<void> {
    try {
      await client.send(new HeadBucketCommand({ Bucket }));
    } catch (error) {
      // Any other error, such as a missing permission for this request, says nothing about the bucket.
      if (isMissingObject(error)) throw bucketMissing({ place, settings });
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
    throw new StorageError(`${place} doesn't say how large a file is. Check ${settings.endpoint}.`);
  };

  async function sendPart(
    part: { Bucket: string; Key: string; UploadId: string; PartNumber: number; Body: Buffer },
    abortSignal: AbortSignal,
  ) {
    const checksum = await checksumOf(part.Body);
    const command = new UploadPartCommand({ ...part, ChecksumSHA256: checksum });
    return { answer: await client.send(command, { abortSignal }), checksum };
  }

  /** @returns whether the service confirmed the content by a checksum of its own */
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
        // The next part is filled while this one is sent; a failure of either ends both.
        const [{ answer, checksum }, next] = await Promise.all([sent, parts.next()]);
        isWhole = isConfirmed(answer, part, checksum, place) && isWhole;
        bytes += part.length;
        const { ETag, ChecksumSHA256 } = answer;
        // Services that do not store checksums may reject them here.
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
          // The upload may be complete although its response was lost or late.
          if (abortSignal.aborted || (await size(Key).catch(() => null)) !== bytes) throw error;
        });
      return isWhole;
    } catch (error) {
      // A part that arrives after the abort would stay.
      over.abort();
      // The first failure is the one to report; `remove` aborts the upload once more.
      await abort(Key, UploadId, { abortSignal: AbortSignal.timeout(cleanUpMs) }).catch(
        () => undefined,
      );
      throw error;
    }
  }

  /** Aborts an upload. Parts of an upload that is not aborted use space forever, and no list of objects shows them. */
  const abort = (Key: string, UploadId: string, limit: { abortSignal?: AbortSignal } = {}) =>
    client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), limit);

  /**
   * Aborts unfinished uploads of a key. Services or credentials that do not support that are ignored; other errors are thrown, so
   * that the caller retries.
   */
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
          // The last request may have succeeded although its response was lost.
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
      // A service replaces the former object atomically once it has received the new one completely.
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
