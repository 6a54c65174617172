// Where backups are stored. Each kind of storage implements this type in a file of its own.
import type { Readable } from "node:stream";
import { utcText } from "../../contract/values.ts";

/** The storage failed. The message is for the operator: what, where, why, what to do. */
export class StorageError extends Error {
  override name = "StorageError";
}

/** The storage refuses to delete an object until a moment. */
export class ObjectLocked extends StorageError {
  readonly until: Date;

  constructor(place: string, until: Date) {
    super(`The file is locked in ${place} until ${utcText(until)}.`);
    this.until = until;
  }
}

type Options = { signal: AbortSignal };

/** Implemented by a storage that can lock objects against deletion. */
export type StorageLocks = {
  /** For how many days the inventory wants backups locked; null = it does not say. */
  readonly days: number | null;
  /**
   * @returns until when an object is locked, according to the storage; null = it is not
   * @throws StorageError
   */
  until(key: string): Promise<Date | null>;
  /**
   * Locks an object until `until` or later; it never shortens a lock.
   * @returns until when the object is locked then, according to the storage; null = it is not, or does not exist
   * @throws StorageError
   */
  extend(key: string, until: Date, options: Options): Promise<Date | null>;
  /**
   * @returns sentences about locks for the operator
   * @throws StorageError where the inventory wants locks and the storage has none
   */
  check(options: Options): Promise<string[]>;
  /**
   * Checks that an object could be locked, without locking it.
   * @throws StorageError where it could not
   */
  tryOn(key: string, options: Options): Promise<void>;
};

type PutOptions = Options & {
  /**
   * Called with each piece that is already on the disk, from the beginning, while the rest arrives. The memory of a piece is
   * reused for the next. The last bytes are left to `readBack`, or all of them where nothing can be read that early.
   */
  takeBack?(piece: Buffer): Promise<void>;
  /** May be called with a piece of the content that is no longer needed. */
  release?: ((piece: Buffer) => void) | undefined;
};

type GetOptions = Options & {
  /** The object is a few kilobytes of text: over SSH, it needs no connection of its own. */
  isSmall?: boolean;
};

type ReadBackOptions = Options & {
  /** `put` has read back the bytes before this one. By default 0. */
  fromByte?: number;
};

/** How a stored object is compared with what was sent. */
export type ReadBack =
  /** The storage's checksums of what it received match. */
  | { kind: "checksums" }
  /** The storage's server has read the stored bytes. */
  | {
      kind: "digest";
      /** Hex SHA-256. */
      checksum: string;
      /** False where the bytes may come from a cache. */
      isFromDisk: boolean;
    }
  /** The stored bytes, which the caller compares. The memory of a piece is reused for the next. */
  | {
      kind: "read";
      /** To be called once all is read: false where the bytes may come from a cache. */
      isFromDisk(): boolean;
      content: AsyncIterable<Buffer>;
    };

export type Storage = {
  /** Where the storage is, for messages, e.g. `/var/backups` or `bucket b at https://…`. It holds no secret. */
  readonly place: string;

  /**
   * Stores `content` under `key`. No object appears before the content has ended and is stored safely; a failure, an abort or an
   * error of `content` leaves nothing behind.
   * @param key relative path with slashes
   * @returns the size of the object in bytes, according to the storage
   * @throws StorageError, or the error of `content`
   */
  put(key: string, content: Readable, options: PutOptions): Promise<number>;

  /**
   * Replaces the small object `key`: a reader gets the former or the new content, whole. After a failure the former content is
   * still there.
   * @throws StorageError, or the signal's reason
   */
  replace(key: string, content: Buffer, options: Options): Promise<void>;

  /**
   * Reads back an object that `put` has just stored.
   * @throws StorageError
   */
  readBack(key: string, options: ReadBackOptions): Promise<ReadBack>;

  /** @throws StorageError, also where the object does not exist */
  get(key: string, options: GetOptions): Promise<Readable>;

  /**
   * @returns the size in bytes; null where the object does not exist
   * @throws StorageError
   */
  size(key: string): Promise<number | null>;

  /**
   * Removes an object and what an interrupted `put` left of it. It is no error where neither exists.
   * @throws ObjectLocked where the object is locked and still there; StorageError
   */
  remove(key: string): Promise<void>;

  /** Absent where the storage cannot lock objects. */
  readonly locks?: StorageLocks;

  /**
   * @returns free space in bytes; null = unknown
   * @throws StorageError
   */
  freeBytes(): Promise<number | null>;
};

export type StoredObject = { key: string; sizeBytes: number };

/** A storage that can list its objects. */
export type ListedStorage = Storage & {
  /**
   * Lists all objects whose keys begin with `prefix`, including unfinished ones. Links are not followed.
   * @throws StorageError
   */
  list(options: Options & { prefix?: string }): AsyncIterable<StoredObject>;
};

/** How often in a row a connection may break before any byte arrives. Reading resumes where the connection broke. */
export const maxBreaks = 3;
