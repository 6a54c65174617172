// Where copies are kept. Each kind of place is one file behind this type.
import type { Readable } from "node:stream";
import { utcText } from "../../contract/values.ts";

/** The place did not do what it was asked. The message is for the operator: what, where, why, what to do. */
export class StorageError extends Error {
  override name = "StorageError";
}

/** The place refuses to delete what is there until a moment. */
export class ObjectLocked extends StorageError {
  readonly until: Date;

  constructor(place: string, until: Date) {
    super(`The file is locked in ${place} until ${utcText(until)}.`);
    this.until = until;
  }
}

type Options = { signal: AbortSignal };

/** Of a place that may refuse to delete what is stored there. */
export type StorageLocks = {
  /** For how many days the inventory has backups locked; null = it says nothing of it. */
  readonly days: number | null;
  /** Until when an object is locked, as the place itself says; null = it is not. @throws StorageError */
  until(key: string): Promise<Date | null>;
  /**
   * Locks an object until then at least; nothing is ever locked for a shorter time than before.
   * @returns until when it is locked then, as the place says; null = it is not, or nothing is there
   * @throws StorageError
   */
  extend(key: string, until: Date, options: Options): Promise<Date | null>;
  /** @returns what is to be known of locks there @throws StorageError where the inventory wants some and the place has none */
  check(options: Options): Promise<string[]>;
  /** Tries whether a file could be locked there, and locks nothing. @throws StorageError where it couldn't */
  tryOn(key: string, options: Options): Promise<void>;
};

type PutOptions = Options & {
  /**
   * Called with what is on the disk already while the rest still arrives, piece by piece from the beginning; its memory
   * is used again for the next. The last bytes are left to `readBack`, and all of them where nothing can be read that early.
   */
  takeBack?(piece: Buffer): Promise<void>;
  /** May be called with a piece of the content that is not needed any more. */
  release?: ((piece: Buffer) => void) | undefined;
};

type GetOptions = Options & {
  /** It is a text of some kilobytes: over SSH it then needs no connection of its own. */
  isSmall?: boolean;
};

type ReadBackOptions = Options & {
  /** What comes before was taken back by `put`; default 0. */
  fromByte?: number;
};

/** How it is known that what is stored is what was sent. */
export type ReadBack =
  /** The storage computed checksums of what it received, and they are ours. */
  | { kind: "checksums" }
  /** The storage's own server read the stored bytes again. */
  | {
      kind: "digest";
      /** Hex SHA-256. */
      checksum: string;
      /** False where memory may have answered for the disk. */
      isFromDisk: boolean;
    }
  /** The stored bytes, to be compared by the caller; a piece's memory is used again for the next. */
  | {
      kind: "read";
      /** Once they are read: false where memory may have answered for the disk. */
      isFromDisk(): boolean;
      content: AsyncIterable<Buffer>;
    };

export type Storage = {
  /** Where it is, in words, e.g. `/var/backups` or `bucket b at https://…`. No secret is in it. */
  readonly place: string;

  /**
   * Keeps all that `content` gives under `key`. Until it has ended well and is safely stored nothing is there
   * under that key; a failure, an abort or an error of `content` leaves nothing behind.
   * @param key relative path with slashes
   * @returns the size that the place itself says the object has, in bytes
   * @throws StorageError, or the error of `content`
   */
  put(key: string, content: Readable, options: PutOptions): Promise<number>;

  /**
   * Keeps a small text under `key`, in place of what is there: whoever reads gets the one or the other, whole. After a
   * failure the former one is still there.
   * @throws StorageError, or the signal's reason
   */
  replace(key: string, content: Buffer, options: Options): Promise<void>;

  /** For what this storage has put just now. @throws StorageError */
  readBack(key: string, options: ReadBackOptions): Promise<ReadBack>;

  /** @throws StorageError, also when nothing is there */
  get(key: string, options: GetOptions): Promise<Readable>;

  /** Bytes, or null when nothing is there. @throws StorageError */
  size(key: string): Promise<number | null>;

  /**
   * Removes an object and whatever a cut-off `put` left of it. That nothing is there is no error.
   * @throws ObjectLocked, and then it is still there; StorageError
   */
  remove(key: string): Promise<void>;

  /** Left out: nothing is ever locked there. */
  readonly locks?: StorageLocks;

  /** Bytes that still fit; null where nobody can tell. @throws StorageError */
  freeBytes(): Promise<number | null>;
};

export type StoredObject = { key: string; sizeBytes: number };

/** One that can say what is in it, and not only what became of a key. */
export type ListedStorage = Storage & {
  /** All objects whose keys begin with a prefix, pieces of unfinished ones too. Links are not followed. @throws StorageError */
  list(options: Options & { prefix?: string }): AsyncIterable<StoredObject>;
};

/** A reading goes on where its connection broke; so often in a row one may break before anything has come over it. */
export const maxBreaks = 3;
