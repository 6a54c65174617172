// Receives uploaded files: each is written to its storage as it arrives, until it is imported. Neither memory nor this machine's disk
// ever has a whole file.
import { createHash } from "node:crypto";
import { uploadPace } from "../../../contract/backups/import.ts";
import { findFileKey } from "../../encryption/decrypt.ts";
import { createEncrypt } from "../../encryption/encrypt.ts";
import type { FileKey } from "../../encryption/payload.ts";
import type { Upload } from "../../http/route.ts";
import { ServiceError } from "../../http/service-error.ts";
import type { Storage } from "../../storage/storage.ts";
import { streamOf } from "../../storage/stream-of.ts";
import { toError } from "../../to-error.ts";
import { type Canceled, Interrupted } from "../failure-message.ts";
import { sizeInWords } from "../formatting.ts";
import type { ImportRoom } from "./import-room.ts";

export type Received = {
  /** Size in bytes as stored. */
  size: number;
  /** Hex SHA-256 of the stored bytes. */
  checksum: string;
  /** Key of the file where it was encrypted temporarily, because a storage with encryption never has plain files; null = not encrypted. */
  key: FileKey | null;
  /** Size in bytes as sent. */
  sentBytes: number;
};

type Receive = Pick<Upload<unknown>, "content"> & {
  id: number;
  storage: Storage;
  key: string;
  isSealed: boolean;
  /** Limit of the size. */
  room: ImportRoom;
  onProgress(sentBytes: number): void;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
};

export const tooLarge = ({ words }: ImportRoom): ServiceError =>
  new ServiceError("body_too_large", `The file is larger than ${words}`);

/** @param pace minimum rate at which a client has to send */
export function createUploads(pace: { bytes: number; seconds: number } = uploadPace) {
  const receiving = new Map<number, AbortController>();

  async function* watched(
    { content, room, onProgress }: Receive,
    ending: AbortController,
  ): AsyncGenerator<Buffer> {
    let bytes = 0;
    // Time that the storage takes does not count against the client.
    const wholeMs = pace.seconds * 1000;
    let leftMs = wholeMs;
    let cameBytes = 0;
    const tooSlow = () =>
      new Interrupted(
        `The file came too slowly: ${sizeInWords(cameBytes)} in ${pace.seconds} s, and it takes ${sizeInWords(pace.bytes)} at least. Copy it to the storage by other means and import it from there.`,
      );
    const chunks = content[Symbol.asyncIterator]();
    for (;;) {
      const fromMs = performance.now();
      const timer = setTimeout(() => ending.abort(tooSlow()), Math.max(0, leftMs));
      const next: IteratorResult<Buffer> = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      bytes += next.value.length;
      if (bytes > room.bytes) throw tooLarge(room);
      cameBytes += next.value.length;
      leftMs -= performance.now() - fromMs;
      if (cameBytes >= pace.bytes) {
        leftMs = wholeMs;
        cameBytes = 0;
      }
      onProgress(bytes);
      yield Buffer.from(next.value);
    }
  }

  return {
    has: (id: number): boolean => receiving.has(id),

    /** Registers an upload before its row is visible; see `forget`. @param id of the backup */
    expect: (id: number): void => void receiving.set(id, new AbortController()),
    forget: (id: number): void => void receiving.delete(id),

    /** Ends an upload with the reason. @returns whether it was being received */
    cancel(id: number, reason: Canceled): boolean {
      const found = receiving.get(id);
      found?.abort(reason);
      return found !== undefined;
    },

    /** Ends all uploads when the service stops. */
    stop(): void {
      for (const ending of receiving.values())
        ending.abort(new Interrupted("Interrupted: the service stopped during the upload."));
    },

    /**
     * Stores a file under a key, completely or not at all.
     * @throws StorageError, ServiceError for a file that is too large, Interrupted, or the error of its stream
     */
    async receive(upload: Receive): Promise<Received> {
      const { id, storage, key, isSealed, content } = upload;
      const ending = receiving.get(id) ?? new AbortController();
      const signal = AbortSignal.any([ending.signal, upload.signal]);
      const hash = createHash("sha256");
      let sentBytes = 0;
      const noted: Receive = {
        ...upload,
        onProgress(bytes) {
          sentBytes = bytes;
          upload.onProgress(bytes);
        },
      };
      const age = isSealed ? await import("age-encryption") : null;
      const identity = (await age?.generateX25519Identity()) ?? null;
      const encrypt =
        age === null || identity === null
          ? null
          : await createEncrypt([await age.identityToRecipient(identity)]);
      async function* kept() {
        const plain = watched(noted, ending);
        for await (const piece of encrypt?.(plain) ?? plain) {
          hash.update(piece);
          yield piece;
        }
      }
      const abort = () => content.destroy(toError(signal.reason));
      signal.addEventListener("abort", abort, { once: true });
      try {
        const size = await storage.put(
          key,
          streamOf(kept(), () => undefined, { isOneByOne: true }),
          { signal },
        );
        const fileKey =
          identity === null
            ? null
            : await findFileKey(() => storage.get(key, { signal }), { identity });
        return { size, checksum: hash.digest("hex"), key: fileKey, sentBytes };
      } catch (error) {
        throw ending.signal.aborted ? toError(ending.signal.reason) : error;
      } finally {
        signal.removeEventListener("abort", abort);
        content.destroy();
      }
    },
  };
}

export type Uploads = ReturnType<typeof createUploads>;
